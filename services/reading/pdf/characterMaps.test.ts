import { expect, test } from "vitest";
import { readPdf } from "./readPdf.ts";

/** A page whose font refers to a character map but embeds neither glyphs nor a map to Unicode. */
function page(map: string, collection: string, codes: string): Uint8Array {
  const content = `BT /F1 12 Tf 40 200 Td <${codes}> Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 300] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Font /Subtype /Type0 /BaseFont /Far /Encoding /${map} /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Far /CIDSystemInfo << /Registry (Adobe) /Ordering (${collection}) /Supplement 2 >> /FontDescriptor 7 0 R /DW 1000 >>`,
    "<< /Type /FontDescriptor /FontName /Far /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
  ];
  let text = "%PDF-1.4\n";
  const places = objects.map((object, n) => {
    const place = text.length;
    text += `${n + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = text.length;
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

const ucs2 = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("hex");

test.each([
  ["Japanese (Unicode)", "UniJIS-UCS2-H", "Japan1", ucs2("東京都の天気は晴れです"), "東京都の天気は晴れです"],
  ["Japanese (Shift JIS)", "90ms-RKSJ-H", "Japan1", "938c8b9e9373", "東京都"],
  ["Chinese", "UniGB-UCS2-H", "GB1", ucs2("北京的天气很好"), "北京的天气很好"],
  ["Korean", "UniKS-UCS2-H", "Korea1", ucs2("서울날씨"), "서울날씨"],
])("%s text is read with the character map that its font refers to", async (_, map, collection, codes, text) => {
  expect(await readPdf(page(map, collection, codes))).toEqual([text]);
});
