import { describe, expect, test } from "vitest";
import { outlookFile } from "#test/reading/outlook.ts";
import { readCompressedRtf } from "./compressedRtf.ts";
import { readMsg } from "./msg.ts";

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");

/** RTF with the header of the form that is not compressed. */
function plainForm(rtf: string): Buffer {
  const content = Buffer.from(rtf, "latin1");
  const header = Buffer.alloc(16);
  header.writeUInt32LE(content.length + 12, 0);
  header.writeUInt32LE(content.length, 4);
  header.write("MELA", 8, "latin1");
  return Buffer.concat([header, content]);
}

describe("compressed RTF", () => {
  test.each([
    [
      "with words of the dictionary",
      "2d000000 2b000000 4c5a4675 f1c5c7a7 03000a00 72637067 31323542 320af320 68656c09 00206277 05b06c64 7d0a800f a0",
      "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
    ],
    [
      "that repeats what it has just written",
      "1a000000 1c000000 4c5a4675 e2d44b51 41000420 5758595a 0d6e7d01 0eb0",
      "{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}",
    ],
  ])("%s is opened", (_title, hex, rtf) => {
    expect(readCompressedRtf(bytes(hex))).toEqual({ kind: "rtf", rtf: Buffer.from(rtf) });
  });

  test("that claims more than 16 MiB, is cut, or is something else has no text", () => {
    const none = { kind: "text", text: "" };
    expect(readCompressedRtf(bytes("2d000000 00000002 4c5a4675 f1c5c7a7 03000a00"))).toEqual(none);
    expect(readCompressedRtf(bytes("2d000000 2b0000"))).toEqual(none);
    expect(readCompressedRtf(bytes("2d000000 2b000000 4c5a4699 f1c5c7a7 03000a00"))).toEqual(none);
  });

  test("that ends within a token is opened up to there", () => {
    const cut = bytes("2d000000 2b000000 4c5a4675 f1c5c7a7 03000a00 72637067 31");
    expect(readCompressedRtf(cut)).toEqual({ kind: "rtf", rtf: Buffer.from("{\\rtf1\\ansi\\ansicpg1") });
  });
});

const readBody = async (rtf: string, text = "in words"): Promise<string> => {
  const properties = { 0x001a: "IPM.Note", 0x0037: "Prices", 0x1000: text, 0x1009: plainForm(rtf) };
  const [markdown = ""] = await readMsg(outlookFile({ properties }));
  return markdown.replace(/^Subject: Prices\s*/, "");
};

describe("an e-mail of Outlook whose text is RTF", () => {
  test("keeps the tables of a web page within it", async () => {
    const page =
      "{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl{\\f0\\fswiss Arial;}}\n" +
      "{\\*\\htmltag64 <table><tr><th>}Lamp{\\*\\htmltag64 </th><th>}Price{\\*\\htmltag64 </th></tr>}\\htmlrtf \\par\\htmlrtf0\n" +
      "{\\*\\htmltag64 <tr><td>}Caf\\'e9{\\*\\htmltag64 </td><td>}4 \\u8364?{\\*\\htmltag64 </td></tr></table>}}";
    expect(await readBody(page)).toBe("| Lamp | Price |\n| --- | --- |\n| Café | 4 € |");
  });

  test("keeps the tables of formatted text", async () => {
    const formatted =
      "{\\rtf1\\ansi Hello\\par\\trowd\\cellx100\\cellx200\\intbl Lamp\\cell Price\\cell\\row" +
      "\\trowd\\cellx100\\cellx200\\intbl A\\cell 4\\cell\\row\\pard Bye\\par}";
    expect(await readBody(formatted)).toBe("Hello\n\n| Lamp | Price |\n| --- | --- |\n| A | 4 |\n\nBye");
  });

  test("is read as its plain text if the RTF is damaged, and as the text within the RTF if it has no other", async () => {
    expect(await readBody("no RTF")).toBe("in words");
    const page = "{\\rtf1\\ansi\\fromhtml1 ";
    expect(await readBody(`${page}{\\*\\htmltag64 `)).toBe("in words");
    expect(await readBody(`${page}<p>\\'zz}`)).toBe("in words");
    expect(await readBody(`${page}${"{".repeat(1_000_000)}x`)).toBe("in words");
    expect(await readBody("{\\rtf1\\ansi\\ansicpg1252\\fromtext \\deff0 Only \\'e9 here\\par}", "")).toBe(
      "Only é here",
    );
  });
});
