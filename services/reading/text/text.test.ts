import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readJson } from "./json.ts";
import { readMarkdown } from "./markdown.ts";
import { readPlain } from "./plain.ts";
import { readXml } from "./xml.ts";

const plain = async (text: string) => (await readPlain(Buffer.from(text)))[0];
const markdown = async (text: string) => (await readMarkdown(Buffer.from(text)))[0];
const json = async (text: string) => (await readJson(Buffer.from(text)))[0];
const xml = async (text: string) => (await readXml(Buffer.from(text)))[0];

test("plain text keeps its paragraphs and lists", async () => {
  const text = "First line\nsecond line\n\n- one\n- two\n\n    a = 1 # indented";
  expect(await plain(text.replaceAll("\n", "\r\n"))).toBe(text);
  expect(await plain("one page\fnext page")).toBe("one page\n\nnext page");
});

test("plain text is escaped so that it contains no heading, quote, fence or element", async () => {
  expect(await plain("# 5 of 6\n#hash\nTitle\n=====\nPart\n---\n> said\n```\n~~~")).toBe(
    "\\# 5 of 6\n#hash\nTitle\n\\=====\nPart\n\\---\n\\> said\n\\```\n\\~~~",
  );
  expect(await plain("if a <b then <script>")).toBe("if a \\<b then \\<script>");
  expect(await plain("a < b, 3 <4, x--y, a == b")).toBe("a < b, 3 <4, x--y, a == b");
});

test("control characters of plain text are dropped", async () => {
  expect(await plain("a\u0000b\u001b[0mc\td\u0007")).toBe("ab[0mc\td");
});

test("Markdown stays as it is, except for its front matter, which becomes a code block", async () => {
  expect(await markdown("# Title\r\n\r\n| a |\r\n|---|")).toBe("# Title\n\n| a |\n|---|");
  expect(await markdown("---\ntitle: A\n---\n# B")).toBe("```yaml\ntitle: A\n```\n\n# B");
  expect(await markdown("---\n\nno matter")).toBe("---\n\nno matter");
});

test("JSON becomes a code block with unchanged numbers, indented if it was one long line", async () => {
  expect(await json(`{\n "a": 1\n}`)).toBe(`\`\`\`json\n{\n "a": 1\n}\n\`\`\``);
  const long = `{"id":12345678901234567890,"price":1.10,"text":"${"word ".repeat(100)}"}`;
  expect(await json(long)).toContain(`{\n  "id": 12345678901234567890,\n  "price": 1.10,\n`);
  expect(await json(`{"a": "\`\`\`"`)).toBe("````json\n" + `{"a": "\`\`\`"` + "\n````");
  expect(await json(`[${"[".repeat(200_000)}`)).toContain("[[[");
});

test("XML becomes a code block, with an element per line if it was one long line", async () => {
  expect(await xml("<a>\n<b/>\n</a>")).toBe("```xml\n<a>\n<b/>\n</a>\n```");
  const long = `<list name="a &amp; b">${"<item>one <i>word</i></item>".repeat(20)}</list>`;
  expect(await xml(long)).toMatch(
    /^```xml\n<list name="a &amp; b">\n( {2}<item>one <i>word<\/i><\/item>\n){20}<\/list>\n```$/,
  );
});

test("XML in UTF-8 is read even if it declares UTF-16", async () => {
  const source = '<?xml version="1.0" encoding="utf-16"?><a>Größe</a>';
  expect(await xml(source)).toBe(`\`\`\`xml\n${source}\n\`\`\``);
});

test.each(["utf-16le", "utf-16be"])("XML in %s is read without a byte order mark", async (encoding) => {
  const encode = (text: string): Buffer =>
    encoding === "utf-16le" ? Buffer.from(text, "utf16le") : Buffer.from(text, "utf16le").swap16();
  for (const source of ['<?xml version="1.0" encoding="UTF-16"?><a>価格 一覧</a>', "<a>価格 一覧</a>"])
    expect(await readXml(encode(source))).toEqual([`\`\`\`xml\n${source}\n\`\`\``]);
});

test("XML with letters of another encoding than it declares is read", async () => {
  const text = "Die nächste Sitzung findet am Montag statt. Bitte die Präsentation für Müller und Söhne prüfen.";
  const bytes = Buffer.from(`<?xml version='1.0' encoding='UTF-8'?><a>${text}</a>`, "latin1");
  expect((await readXml(bytes))[0]).toContain(text);
  const declared = Buffer.from("\n<?xml version='1.0' encoding='iso-8859-5'?><a>\xbf\xe0\xd8</a>", "latin1");
  expect((await readXml(declared))[0]).toContain("При");
});

test("XML with external entities and malformed XML are refused", async () => {
  await expect(xml(`<!DOCTYPE a [<!ENTITY b SYSTEM "b">]><a>&b;</a>`)).rejects.toThrow("another file");
  await expect(xml("<a><b></a>")).rejects.toThrow(UnreadableFile);
});
