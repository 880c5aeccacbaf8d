import { describe, expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile } from "../reader.ts";
import { readEml } from "./eml.ts";

const read = async (mail: string): Promise<string> =>
  (await readEml(Buffer.from(mail.replaceAll("\n", "\r\n"))))[0] ?? "";

test("plain text of an e-mail is escaped", async () => {
  expect(await read("From: a@b.example\nSubject: Hi\n\n# 1\nRegards <script>\n")).toBe(
    "From: a@b.example  \nSubject: Hi\n\n\\# 1\nRegards \\<script>",
  );
});

test("an address that looks like an HTML element is escaped", async () => {
  expect(await read('From: "<img src=x>" <a@b.example>\n\nText')).toBe("From: \\<img src=x> <a@b.example>\n\nText");
});

test("deeply nested parts are refused", async () => {
  const nested = "Content-Type: multipart/mixed; boundary=x\n\n--x\n".repeat(5_000);
  await expect(read(`From: a@b.example\n${nested}`)).rejects.toThrow(UnreadableFile);
});

test("flowed lines are joined, but not an answer with its quotation, and not a signature", async () => {
  const header = 'From: a@b.example\r\nContent-Type: text/plain; charset=utf-8;\r\n format="flowed"\r\n\r\n';
  const body = [
    "Yes, on \r\nMonday ",
    "> Shall we \r\n> meet?",
    ">> When? ",
    "> Soon",
    "",
    " From here on ",
    "-- ",
    "Ada",
  ].join("\r\n");
  expect((await readEml(Buffer.from(header + body)))[0]?.split("\n").slice(2)).toEqual(
    ["Yes, on Monday ", "> Shall we meet?", ">> When? ", "> Soon", "", "From here on ", "-- ", "Ada"].map((line) =>
      line.replace(/^([>-])/, "\\$1"),
    ),
  );
});

test("flowed lines without trailing spaces are joined, but not an answer with its quotation", async () => {
  const header = "From: a@b.example\nContent-Type: text/plain; delsp=yes; format=flowed\n\n";
  const body = [
    "> The harbour office is clo ",
    "> sed.",
    "The let ",
    "ter is here: https://a.example/very/ ",
    "long",
    "-- ",
    "Ada",
  ];
  expect((await read(header + body.join("\n"))).split("\n").slice(2)).toEqual([
    "\\> The harbour office is closed.",
    "The letter is here: https://a.example/very/long",
    "\\-- ",
    "Ada",
  ]);
});

test("parts with different flow settings are each joined by their own", async () => {
  const part = (delsp: string, text: string): string =>
    `--x\nContent-Type: text/plain; format=flowed; delsp=${delsp}\n\n${text}\n`;
  const parts = `${part("yes", "clo \nsed")}${part("no", "the \ndoor")}--x--`;
  expect(await read(`From: a@b.example\nContent-Type: multipart/mixed; boundary=x\n\n${parts}`)).toMatch(
    /closed\s+the door$/,
  );
});

test("the text of an e-mail names the other recipients, and the reply address if it differs from the sender", async () => {
  const header = "From: a@b.example\nTo: c@d.example\nBcc: Ada <e@f.example>\n";
  expect(await read(`${header}Reply-To: g@h.example\n\nText`)).toContain(
    "\nBcc: Ada <e@f.example>  \nReply-To: g@h.example\n",
  );
  expect(await read(`${header}Reply-To: a@b.example\n\nText`)).not.toContain("Reply-To");
});

describe("an e-mail that is attached to another", () => {
  const attach = (inner: string, n: number): string =>
    `Subject: Outer ${n}\nContent-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\nContent-Type: text/plain\n\nSee ${n}\n--b${n}\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename=old.eml\n\n${inner}\n--b${n}--\n`;

  test("is read, and its attachments are reported", async () => {
    const warnings: ReadingWarning[] = [];
    const file = "Content-Type: application/pdf\nContent-Disposition: attachment; filename=in.pdf\n\nx\n";
    const inner = `Subject: Old\nContent-Type: multipart/mixed; boundary=y\n\n--y\nContent-Type: text/plain\n\nInner words\n--y\n${file}--y--`;
    const mail = Buffer.from(attach(inner, 1).replaceAll("\n", "\r\n"));
    expect(await readEml(mail, (warning) => warnings.push(warning))).toEqual([
      "Subject: Outer 1  \nAttachments: old.eml\n\nSee 1\n\nSubject: Old  \nAttachments: in.pdf\n\nInner words",
    ]);
    expect(warnings).toEqual([{ code: "embedded_files_left_out", count: 1 }]);
  });

  test("is read up to a depth limit, and reported beyond it", async () => {
    const warnings: ReadingWarning[] = [];
    const deep = Array.from({ length: 8 }, (_, n) => n).reduce(attach, "Subject: Innermost\n\nwords");
    const [text] = await readEml(Buffer.from(deep.replaceAll("\n", "\r\n")), (warning) => warnings.push(warning));
    expect(text).toContain("See 3");
    expect(text).not.toContain("Innermost");
    expect(warnings).toEqual([{ code: "embedded_files_left_out", count: 1 }]);
  });
});
