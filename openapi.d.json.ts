/** The OpenAPI document, which `npm run openapi` makes. Its inferred type would slow down `tsc`. */
declare const document: { paths: object; components: object };
export default document;
