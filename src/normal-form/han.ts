/** Common traditional characters, and behind each the simplified one. */
const PAIRS = `
愛爱 礙碍 罷罢 擺摆 敗败 辦办 幫帮 寶宝 報报 備备 貝贝 筆笔 畢毕 閉闭 邊边 變变 標标 錶表 別别 賓宾 餅饼 撥拨 補补 佈布
財财 參参 慘惨 燦灿 倉仓 艙舱 測测 層层 產产 長长 嘗尝 場场 廠厂 車车 徹彻 陳陈 稱称 誠诚 懲惩 遲迟 齒齿 衝冲 蟲虫 醜丑
籌筹 礎础 處处 觸触 傳传 闖闯 創创 純纯 詞词 辭辞 聰聪 從从 竄窜 達达 帶带 單单 擔担 膽胆 彈弹 當当 擋挡 黨党 島岛 導导
燈灯 鄧邓 敵敌 遞递 點点 電电 墊垫 釣钓 調调 頂顶 訂订 東东 動动 凍冻 鬥斗 獨独 讀读 賭赌 斷断 鍛锻 隊队 對对 噸吨 頓顿
奪夺 墮堕 鵝鹅 額额 惡恶 餓饿 兒儿 爾尔 發发 罰罚 閥阀 煩烦 範范 飯饭 訪访 紡纺 飛飞 廢废 費费 紛纷 墳坟 奮奋 糞粪 豐丰
風风 瘋疯 鋒锋 鳳凤 膚肤 輔辅 賦赋 負负 婦妇 復复 複复 該该 蓋盖 趕赶 幹干 乾干 剛刚 鋼钢 崗岗 個个 給给 鞏巩 貢贡 溝沟
構构 購购 夠够 顧顾 颳刮 關关 觀观 館馆 慣惯 貫贯 廣广 規规 歸归 龜龟 軌轨 櫃柜 貴贵 滾滚 鍋锅 國国 過过 漢汉 號号 閤合
賀贺 橫横 轟轰 鴻鸿 紅红 後后 壺壶 護护 滬沪 戶户 華华 畫画 劃划 話话 懷怀 壞坏 歡欢 環环 還还 緩缓 換换 喚唤 黃黄 揮挥
輝辉 會会 匯汇 繪绘 賄贿 葷荤 渾浑 夥伙 獲获 貨货 禍祸 擊击 機机 積积 雞鸡 績绩 極极 級级 擠挤 幾几 計计 記记 紀纪 際际
繼继 濟济 劑剂 夾夹 價价 駕驾 堅坚 監监 間间 艱艰 繭茧 檢检 減减 簡简 見见 劍剑 薦荐 漸渐 鑒鉴 鍵键 艦舰 將将 漿浆 獎奖
講讲 醬酱 膠胶 驕骄 腳脚 餃饺 繳缴 較较 階阶 節节 潔洁 結结 傑杰 屆届 緊紧 錦锦 盡尽 進进 勁劲 經经 驚惊 鯨鲸 頸颈 靜静
鏡镜 競竞 糾纠 舊旧 舉举 據据 鋸锯 懼惧 劇剧 捲卷 絕绝 覺觉 軍军 駿骏 開开 凱凯 顆颗 殼壳 課课 墾垦 懇恳 庫库 褲裤 誇夸
塊块 寬宽 礦矿 況况 虧亏 擴扩 闊阔 臘腊 蠟蜡 來来 賴赖 蘭兰 藍蓝 籃篮 欄栏 攔拦 爛烂 濫滥 勞劳 樂乐 淚泪 類类 離离 禮礼
裡里 裏里 歷历 曆历 麗丽 勵励 厲厉 聯联 蓮莲 連连 憐怜 練练 煉炼 臉脸 戀恋 糧粮 涼凉 兩两 輛辆 諒谅 療疗 遼辽 獵猎 鄰邻
臨临 齡龄 鈴铃 靈灵 領领 劉刘 龍龙 樓楼 爐炉 魯鲁 陸陆 錄录 綠绿 慮虑 濾滤 驢驴 亂乱 輪轮 倫伦 論论 羅罗 邏逻 鑼锣
籮箩 騾骡 絡络 媽妈 馬马 瑪玛 嗎吗 罵骂 買买 賣卖 麥麦 邁迈 滿满 貓猫 貿贸 麼么 沒没 門门 們们 悶闷 夢梦 彌弥 綿绵 麵面
廟庙 滅灭 憫悯 鳴鸣 銘铭 謀谋 畝亩 納纳 難难 腦脑 惱恼 鬧闹 內内 擬拟 鳥鸟 寧宁 濃浓 農农 諾诺 歐欧 盤盘 龐庞 賠赔 噴喷
鵬鹏 騙骗 飄飘 貧贫 頻频 評评 蘋苹 憑凭 撲扑 鋪铺 樸朴 譜谱 齊齐 騎骑 豈岂 啟启 氣气 棄弃 遷迁 簽签 籤签 謙谦 錢钱 淺浅
譴谴 槍枪 牆墙 強强 搶抢 橋桥 喬乔 僑侨 竊窃 親亲 輕轻 傾倾 請请 慶庆 窮穷 瓊琼 趨趋 區区 軀躯 驅驱 權权 勸劝 卻却 確确
讓让 擾扰 熱热 認认 榮荣 絨绒 軟软 銳锐 潤润 灑洒 薩萨 賽赛 傘伞 喪丧 掃扫 澀涩 殺杀 紗纱 曬晒 閃闪 陝陕 傷伤 賞赏 燒烧
捨舍 設设 攝摄 審审 腎肾 滲渗 聲声 繩绳 勝胜 聖圣 師师 獅狮 濕湿 詩诗 時时 蝕蚀 實实 識识 勢势 適适 釋释 飾饰 視视 試试
壽寿 獸兽 書书 樞枢 輸输 屬属 術术 樹树 數数 帥帅 雙双 誰谁 稅税 順顺 說说 絲丝 飼饲 鬆松 聳耸 頌颂 訴诉 蘇苏 肅肃 雖虽
隨随 歲岁 孫孙 損损 筍笋 縮缩 鎖锁 態态 攤摊 貪贪 灘滩 壇坛 談谈 嘆叹 湯汤 燙烫 濤涛 討讨 騰腾 題题 體体 條条 鐵铁 廳厅
聽听 頭头 統统 圖图 塗涂 團团 頹颓 駝驼 橢椭 灣湾 彎弯 頑顽 萬万 網网 違违 圍围 為为 維维 偉伟 偽伪 緯纬 衛卫 謂谓
溫温 聞闻 紋纹 穩稳 問问 窩窝 嗚呜 烏乌 無无 誤误 霧雾 務务 犧牺 習习 襲袭 係系 繫系 戲戏 細细 蝦虾 嚇吓 峽峡 狹狭 鮮鲜
纖纤 賢贤 銜衔 鹹咸 顯显 險险 縣县 現现 線线 憲宪 獻献 餡馅 鄉乡 詳详 響响 項项 銷销 曉晓 嘯啸 協协 脅胁 寫写 謝谢 興兴
選选 學学 尋寻 訓训 訊讯 遜逊 壓压 鴉鸦 鴨鸭 啞哑 亞亚 煙烟 鹽盐 嚴严 顏颜 艷艳 驗验 厭厌 諺谚 楊杨 陽阳 養养 樣样 窯窑
遙遥 搖摇 藥药 爺爷 業业 頁页 葉叶 醫医 儀仪 遺遗 儲储 蟻蚁 藝艺 億亿 憶忆 義义 議议 異异 譯译 陰阴 銀银 飲饮 隱隐 嬰婴
櫻樱 鷹鹰 應应 營营 螢萤 蠅蝇 贏赢 穎颖 擁拥 傭佣 優优 憂忧 郵邮 猶犹 遊游 誘诱 魚鱼 漁渔 娛娱 與与 嶼屿 語语 獄狱 譽誉
預预 園园 員员 圓圆 緣缘 遠远 願愿 約约 躍跃 閱阅 雲云 運运 雜杂 災灾 載载 贊赞 髒脏 臟脏 鑿凿 棗枣 責责 擇择 則则 澤泽
賊贼 贈赠 紮扎 閘闸 詐诈 齋斋 債债 氈毡 盞盏 斬斩 嶄崭 戰战 張张 漲涨 帳帐 賬账 趙赵 這这 針针 偵侦 診诊 鎮镇 陣阵 掙挣
睜睁 爭争 鄭郑 證证 織织 職职 執执 紙纸 製制 質质 滯滞 終终 鐘钟 鍾钟 種种 腫肿 眾众 週周 豬猪 諸诸 燭烛 囑嘱 駐驻 築筑
鑄铸 專专 磚砖 轉转 賺赚 莊庄 裝装 壯壮 狀状 錐锥 準准 濁浊 資资 總总 縱纵 鄒邹 組组 鑽钻 臺台 檯台 颱台
`;
const SIMPLIFIED = new Map(
  PAIRS.trim()
    .split(/\s+/)
    .map((pair) => [pair[0]!, pair[1]!]),
);

/** Writes a traditional character as the simplified one. */
export function simplifyHan(character: string): string {
  return SIMPLIFIED.get(character) ?? character;
}

const HAN_DIGITS = "〇一二三四五六七八九";
const HAN_SCALES: Record<string, number> = { 十: 10, 百: 100, 千: 1000 };
const HAN_NUMBER = /[〇零一二三四五六七八九两兩十百千]+/y;

/**
 * Reads the number in Chinese numerals at an offset, as its digits: "二〇〇八" is "2008", "二十" is
 * "20". Null if there is none.
 */
export function readHanNumber(text: string, at: number): { digits: string; end: number } | null {
  HAN_NUMBER.lastIndex = at;
  const [written] = HAN_NUMBER.exec(text) ?? [];
  if (written === undefined) return null;
  const end = at + written.length;
  const numerals = Array.from(written.replaceAll("零", "〇").replaceAll(/[两兩]/g, "二"));
  if (numerals.every((numeral) => HAN_DIGITS.includes(numeral))) {
    return { digits: numerals.map((numeral) => HAN_DIGITS.indexOf(numeral)).join(""), end };
  }
  let [total, digit] = [0, 0];
  for (const numeral of numerals) {
    const scale = HAN_SCALES[numeral];
    if (scale === undefined) digit = HAN_DIGITS.indexOf(numeral);
    else {
      total += (digit || 1) * scale;
      digit = 0;
    }
  }
  return { digits: String(total + digit), end };
}
