import { expect, test } from "vitest";
import { decodeText } from "./charset.ts";

const samples = [
  [
    "shift_jis",
    "89ef8b6382cc8b638e96985e814297888f5482cc8c8e976a93fa82c98e9f82cc89ef8b6382f08a4a82ab82dc82b781428e5189c18ed282cd915388f582c582b78142",
    "会議の議事録。来週の月曜日に次の会議を開きます。参加者は全員です。",
  ],
  ["short shift_jis", "93fa967b8cea82cc8365834c83588367", "日本語のテキスト"],
  [
    "gb18030",
    "bbe1d2e9bcc7c2bca1a3cfc2d6dcd2bbbdabd5d9bfaacfc2d2bbb4cebbe1d2e9a3accbf9d3d0c8cbb6bcd2aab2cebcd3a1a3c7ebd7bcb1b8bac3b1a8b8e6a1a3",
    "会议记录。下周一将召开下一次会议，所有人都要参加。请准备好报告。",
  ],
  [
    "big5",
    "b77cc4b3b04fbffda143a455b667a440b14ea56cb67da455a440a6b8b77cc4b3a141a9d2a6b3a448b3a3ad6eb0d1a55ba143bdd0b7c7b3c6a66eb3f8a769a143",
    "會議記錄。下週一將召開下一次會議，所有人都要參加。請準備好報告。",
  ],
  [
    "euc-kr",
    "c8b8c0c7b7cf2e20b4d9c0bd20c1d620bff9bfe4c0cfbfa120b4d9c0bd20c8b8c0c7b8a620b0b3c3d6c7d5b4cfb4d92e20b8f0b5ce20c2fcbcaec7d820c1d6bcbcbfe42e",
    "회의록. 다음 주 월요일에 다음 회의를 개최합니다. 모두 참석해 주세요.",
  ],
  [
    "windows-1251",
    "cff0eef2eeeaeeeb20f1eee1f0e0ede8ff2e20d1ebe5e4f3fef9e5e520f1eee1f0e0ede8e520f1eef1f2eee8f2f1ff20e220efeeede5e4e5ebfcede8ea2e20c2f1e520e4eeebe6edfb20eff0e8f1f3f2f1f2e2eee2e0f2fc2e",
    "Протокол собрания. Следующее собрание состоится в понедельник. Все должны присутствовать.",
  ],
  [
    "koi8-r",
    "f0d2cfd4cfcbcfcc20d3cfc2d2c1cec9d12e20f3ccc5c4d5c0ddc5c520d3cfc2d2c1cec9c520d3cfd3d4cfc9d4d3d120d720d0cfcec5c4c5ccd8cec9cb2e20f7d3c520c4cfccd6ced920d0d2c9d3d5d4d3d4d7cfd7c1d4d82e",
    "Протокол собрания. Следующее собрание состоится в понедельник. Все должны присутствовать.",
  ],
  [
    "iso-8859-2",
    "50726f746f6bf3b32073706f746b616e69612e204e617374ea706e652073706f746b616e6965206f6462ea647a6965207369ea207720706f6e6965647a6961b3656b2e2057737a79736379206d75737ab1206279e6206f6265636e692e205a61bff3b3e62067eab66cb1206a61bcf12e",
    "Protokół spotkania. Następne spotkanie odbędzie się w poniedziałek. Wszyscy muszą być obecni. Zażółć gęślą jaźń.",
  ],
  [
    "windows-1252",
    "50726f746f6b6f6c6c20646572205369747a756e67209620646965206ee46368737465204265737072656368756e672066696e64657420616d204d6f6e7461672073746174742e20426974746520646965205072e473656e746174696f6e2066fc72204dfc6c6c657220262053f6686e65207072fc66656e2e20352080",
    "Protokoll der Sitzung – die nächste Besprechung findet am Montag statt. Bitte die Präsentation für Müller & Söhne prüfen. 5 €",
  ],
  [
    "windows-1252 (French)",
    "50726f63e8732d76657262616c206465206c612072e9756e696f6e2e204c92e974e92070726f636861696e2c20e02063f474e9206465206c6120666f72ea742c206c6520676172e76f6e206d616e67657261206ff920696c20766f756472612e204e6feb6c2e",
    "Procès-verbal de la réunion. L’été prochain, à côté de la forêt, le garçon mangera où il voudra. Noël.",
  ],
  [
    "windows-1253",
    "d0f1e1eaf4e9eadc20f3f5ede5e4f1dfe1f3e7f22e20c720e5f0fcece5ede720f3f5ede5e4f1dfe1f3e720e8e120e3dfede5e920f4e720c4e5f5f4ddf1e12e20bcebefe920f0f1ddf0e5e920ede120e5dfede1e920f0e1f1fcedf4e5f22e",
    "Πρακτικά συνεδρίασης. Η επόμενη συνεδρίαση θα γίνει τη Δευτέρα. Όλοι πρέπει να είναι παρόντες.",
  ],
  ["utf-16le", "50006c00610069006e00200077006f007200640073002c00200070006c00610069006e002e00", "Plain words, plain."],
  [
    "windows-1255",
    "f4f8e5e8e5f7e5ec20e4e9f9e9e1e42e20e4e9f9e9e1e420e4e1e0e420fafaf7e9e9ed20e1e9e5ed20f9f0e92e20ebe5eced20e7e9e9e1e9ed20ece4f9fafaf32e",
    "פרוטוקול הישיבה. הישיבה הבאה תתקיים ביום שני. כולם חייבים להשתתף.",
  ],
  [
    "windows-1254",
    "546f706c616e74fd20747574616e61f0fd2e2042697220736f6e72616b6920746f706c616e74fd2070617a6172746573692067fc6efc20796170fd6c6163616b74fd722e204865726b6573696e206b6174fd6c6d6173fd20676572656b69796f722e20de69fe6c692779652067696469fe2e",
    "Toplantı tutanağı. Bir sonraki toplantı pazartesi günü yapılacaktır. Herkesin katılması gerekiyor. Şişli'ye gidiş.",
  ],
] as const;

test.each(samples)("text in %s is decoded", (_, hex, text) => {
  expect(decodeText(Buffer.from(hex, "hex"))).toBe(text);
});

test("a byte order mark decides the encoding and is dropped", () => {
  expect(decodeText(Buffer.from("\ufeffplain"))).toBe("plain");
  expect(decodeText(Buffer.from("\ufeff\u00e9t\u00e9", "utf16le"))).toBe("\u00e9t\u00e9");
  expect(decodeText(Buffer.from("\ufeff\u00e9t\u00e9", "utf16le").swap16())).toBe("\u00e9t\u00e9");
});

test("Japanese text in ISO-2022-JP is decoded, and the colours of a terminal are no such text", () => {
  expect(decodeText(Buffer.from("A \x1b$BF|K\\\x1b(B Z"))).toBe("A 日本 Z");
  expect(decodeText(Buffer.from("\x1b[1mbold\x1b[0m"))).toBe("\x1b[1mbold\x1b[0m");
});

test("an HTML file is decoded as it declares", () => {
  const html = Buffer.concat([Buffer.from(`<meta charset="koi8-r"><p>`), Buffer.from([0xcd, 0xc9, 0xd2])]);
  expect(decodeText(html)).toContain("\u043c\u0438\u0440");
});

test("an XHTML file without a meta element is decoded by its XML declaration", () => {
  const page = '<?xml version="1.0" encoding="windows-1257"?><html><p>T\u00e6sti \u00e8ia</p></html>';
  expect(decodeText(Buffer.from(page, "latin1"))).toContain("T\u0119sti \u010dia");
});

test("bytes of an unknown encoding still become text", () => {
  expect(decodeText(Buffer.from([0x61, 0x81, 0xe9]))).toBe("a\u0081\u00e9");
  expect(decodeText(new Uint8Array())).toBe("");
});

test("a few invalid bytes in UTF-8 do not garble the rest", () => {
  const text = "Größe, Länge und Höhe der Türen\n";
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xff]), Buffer.from(text)]);
  expect(decodeText(bytes)).toBe(`${text}\ufffd${text}`);
});

test("a page that wrongly declares UTF-8 is decoded by its bytes", () => {
  const [, hex, russian] = samples.find(([name]) => name === "windows-1251")!;
  const page = Buffer.concat([Buffer.from('<meta charset="utf-8"><p>'), Buffer.from(hex, "hex")]);
  expect(decodeText(page)).toContain(russian);
});
