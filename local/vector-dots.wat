;; Dot products of a query with rows of 32-bit floats, eight values at a time (WebAssembly SIMD).
;; Compile to vector-dots.wasm: UPDATE_WASM=1 npx vitest run --project node vector-dots
(module
  (memory (export "memory") 1)
  ;; Offsets of the query, the rows and the scores, and the row width (a multiple of 32), in bytes.
  (func (export "dots")
    (param $query i32) (param $row i32) (param $count i32) (param $width i32) (param $score i32)
    (local $at i32) (local $even v128) (local $odd v128)
    (block $done
      (loop $rows
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $even (v128.const f32x4 0 0 0 0))
        (local.set $odd (v128.const f32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (loop $values
          (local.set $even (f32x4.add (local.get $even) (f32x4.mul
            (v128.load (i32.add (local.get $query) (local.get $at)))
            (v128.load (i32.add (local.get $row) (local.get $at))))))
          (local.set $odd (f32x4.add (local.get $odd) (f32x4.mul
            (v128.load offset=16 (i32.add (local.get $query) (local.get $at)))
            (v128.load offset=16 (i32.add (local.get $row) (local.get $at))))))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br_if $values (i32.lt_u (local.get $at) (local.get $width))))
        (local.set $even (f32x4.add (local.get $even) (local.get $odd)))
        (f32.store (local.get $score) (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $even)) (f32x4.extract_lane 1 (local.get $even)))
          (f32.add (f32x4.extract_lane 2 (local.get $even)) (f32x4.extract_lane 3 (local.get $even)))))
        (local.set $row (i32.add (local.get $row) (local.get $width)))
        (local.set $score (i32.add (local.get $score) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $rows)))))
