import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { tnefStream, type TnefParts } from "#test/reading/tnef.ts";
import { readEml } from "./eml.ts";

const packed = (stream: Buffer, type = "application/ms-tnef"): string =>
  `--x\nContent-Type: ${type}; name=winmail.dat\nContent-Disposition: attachment; filename=winmail.dat\nContent-Transfer-Encoding: base64\n\n${stream.toString("base64")}\n`;

const read = async (text: string, ...parts: string[]): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const warnings: ReadingWarning[] = [];
  const body = `--x\nContent-Type: text/plain\n\n${text}\n`;
  const mail = `From: a@b.example\nContent-Type: multipart/mixed; boundary=x\n\n${text && body}${parts.join("")}--x--\n`;
  const [markdown = ""] = await readEml(Buffer.from(mail.replaceAll("\n", "\r\n")), (one) => warnings.push(one));
  return { text: markdown, warnings };
};

const html = (body: string): Buffer => Buffer.from(`<html><body>${body}</body></html>`);
const leftOut = (count: number): ReadingWarning => ({ code: "embedded_files_left_out", count });
const NAME = 0x3707;

test("the text of a winmail.dat is read if the e-mail has none, and its attachments are named and counted", async () => {
  const stream = tnefStream({
    properties: { 0x1013: html("<p>The <b>plan</b> is attached. <img src='cid:p1'></p>") },
    attachments: [
      { title: "PLAN~1.PDF", content: Buffer.from("x"), properties: { [NAME]: "Plan of the quay.pdf" } },
      { title: "Größe.txt", content: Buffer.from("y") },
      { title: "p.png", content: Buffer.from("z"), properties: { 0x3712: "p1", 0x370e: "image/png" } },
    ],
  });
  expect(await read("", packed(stream))).toEqual({
    text: "From: a@b.example  \nAttachments: Plan of the quay.pdf, Größe.txt\n\nThe **plan** is attached.",
    warnings: [leftOut(2), { code: "images_without_text", count: 1 }],
  });
});

test("the text of a winmail.dat is read only if the e-mail lacks it", async () => {
  const stream = tnefStream({ properties: { 0x1013: html("<p>The plan, <i>as said</i>.</p>") } });
  expect((await read("The plan, as said.", packed(stream))).text).toBe("From: a@b.example\n\nThe plan, as said.");
  expect((await read("Another text.", packed(stream, "application/octet-stream"))).text).toBe(
    "From: a@b.example\n\nAnother text.\n\nThe plan, *as said*.",
  );
});

test("text in the encoding of an older program is decoded", async () => {
  const stream = tnefStream({ codePage: 1251, text: Buffer.from([0xcf, 0xf0, 0xe8, 0]) });
  expect((await read("", packed(stream))).text).toBe("From: a@b.example\n\nПри");
});

test("calendars, messages and the times of an appointment in a winmail.dat are read", async () => {
  const event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Works\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
  const inner: TnefParts = {
    properties: { 0x0037: "Before", 0x1000: "Earlier words" },
    attachments: [{ title: "old.pdf", content: Buffer.from("x") }],
  };
  const stream = tnefStream({
    properties: { 0x1000: "See you" },
    dates: { 0x820d: new Date("2026-05-04T08:00:00Z"), 0x820e: new Date("2026-05-04T09:00:00Z") },
    attachments: [
      { title: "a.ics", content: Buffer.from(event) },
      { properties: { 0x3001: "Before", 0x3701: { message: tnefStream(inner) } } },
    ],
  });
  const { text, warnings } = await read("See you", packed(stream));
  expect(text.split("\n\n")).toEqual([
    "From: a@b.example  \nAttachments: a.ics",
    "See you",
    "Start: 2026-05-04 08:00 UTC  \nEnd: 2026-05-04 09:00 UTC",
    "Subject: Before  \nAttachments: old.pdf",
    "Earlier words",
    "Event: Works",
  ]);
  expect(warnings).toEqual([leftOut(1)]);
});

test("another or damaged file named winmail.dat is reported, and read up to the damage", async () => {
  expect(await read("Hello", packed(Buffer.from("no such file")))).toEqual({
    text: "From: a@b.example  \nAttachments: winmail.dat\n\nHello",
    warnings: [leftOut(1)],
  });
  const stream = tnefStream({ attachments: [{ title: "a.pdf", content: Buffer.alloc(500) }] });
  const cut = await read("Hello", packed(stream.subarray(0, -300)));
  expect(cut).toEqual({ text: "From: a@b.example  \nAttachments: a.pdf\n\nHello", warnings: [leftOut(1)] });
  const counts = stream.subarray(0, -300).fill(0xff, 34);
  expect((await read("Hello", packed(counts))).text).toContain("Hello");
});

test("messages that contain each other are read up to a depth limit, and the rest is reported", async () => {
  let inner = tnefStream({ properties: { 0x1000: "level 0" } });
  for (let n = 1; n <= 9; n++)
    inner = tnefStream({
      properties: { 0x1000: `level ${n}` },
      attachments: [{ properties: { 0x3001: "Inner", 0x3701: { message: inner } } }],
    });
  const { text, warnings } = await read("", packed(inner));
  expect(text).toContain("level 4");
  expect(text).not.toContain("level 3");
  expect(warnings).toEqual([leftOut(1)]);
});
