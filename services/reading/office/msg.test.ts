import { describe, expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { outlookFile, type OutlookParts } from "#test/reading/outlook.ts";
import { UnreadableFile } from "../reader.ts";
import { readMsg } from "./msg.ts";

const read = async (bytes: Uint8Array): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const warnings: ReadingWarning[] = [];
  const [text = ""] = await readMsg(bytes, (warning) => warnings.push(warning));
  return { text, warnings };
};

const mail = (text: string, more: Partial<OutlookParts> = {}): OutlookParts => ({
  properties: { 0x001a: "IPM.Note", 0x0037: text, 0x1000: `${text} in words`, ...more.properties },
  ...(more.persons && { persons: more.persons }),
  ...(more.attachments && { attachments: more.attachments }),
});

describe("an e-mail of Outlook", () => {
  test("is read with its sender, recipients and time", async () => {
    const person = (name: string, kind: number): OutlookParts => ({
      properties: { 0x3001: name, 0x39fe: `${name.toLowerCase()}@a.example`, 0x0c15: kind },
    });
    const sent = new Date("2026-05-01T10:30:00Z");
    const properties = { 0x0c1a: "Ann", 0x0c1f: "/o=A/cn=ann", 0x0039: sent, 0x1000: "# 1 <b>" };
    const persons = [person("Bob", 1), person("Cy", 2), person("Di", 3), person("Eve", 1)];
    expect((await read(outlookFile(mail("Lamps", { properties, persons })))).text).toBe(
      "From: Ann  \nTo: Bob <bob@a.example>, Eve <eve@a.example>  \nCc: Cy <cy@a.example>  \nBcc: Di <di@a.example>  \nDate: 2026-05-01 10:30 UTC  \nSubject: Lamps\n\n\\# 1 \\<b>",
    );
  });

  test("names its attachments, reports its pictures, and includes the attached messages", async () => {
    const file = (name: string, more: OutlookParts["properties"] = {}): OutlookParts => ({
      properties: { 0x3707: name, 0x3701: Buffer.from("x"), ...more },
    });
    const html = Buffer.from('<p>Look: <img src="cid:p1"></p>');
    const attachments = [
      file("a.pdf"),
      file("p.png", { 0x3712: "p1" }),
      { properties: { 0x3001: "Before" }, message: mail("Before") },
    ];
    expect(await read(outlookFile(mail("Now", { properties: { 0x1013: html }, attachments })))).toEqual({
      text: "Subject: Now  \nAttachments: a.pdf\n\nLook:\n\nSubject: Before\n\nBefore in words",
      warnings: [
        { code: "images_without_text", count: 1 },
        { code: "embedded_files_left_out", count: 1 },
      ],
    });
  });

  test("names attached contacts and tasks, and reports them as left out", async () => {
    const attached = (name: string, kind: string): OutlookParts => ({
      properties: { 0x3001: name },
      message: mail(name, { properties: { 0x001a: kind } }),
    });
    const attachments = [attached("Ann Smith", "IPM.Contact"), attached("Paint the quay", "IPM.Task")];
    expect(await read(outlookFile(mail("Now", { attachments })))).toEqual({
      text: "Subject: Now  \nAttachments: Ann Smith, Paint the quay\n\nNow in words",
      warnings: [{ code: "embedded_files_left_out", count: 2 }],
    });
  });

  test("of an older program is read in the encoding of its language", async () => {
    const text = Buffer.from([0x8c, 0xfb, 0x8d, 0xc0]).toString("latin1");
    const file = outlookFile(mail(text, { properties: { 0x3ff1: 0x0411, 0x1000: text } }), { bytes: true });
    expect((await read(file)).text).toBe("Subject: 口座\n\n口座");
  });

  test("includes nested messages up to a depth limit, and reports the rest", async () => {
    let inner = mail("0");
    for (let n = 1; n <= 9; n++)
      inner = mail(String(n), { attachments: [{ properties: { 0x3001: "Inner" }, message: inner }] });
    const { text, warnings } = await read(outlookFile(inner));
    expect(text).toContain("4 in words");
    expect(text).not.toContain("3 in words");
    expect(warnings).toEqual([{ code: "embedded_files_left_out", count: 1 }]);
  });
});

test("an Outlook appointment is read with its time and place", async () => {
  const properties = {
    0x001a: "IPM.Appointment",
    0x8000: new Date("2026-05-04T08:00:00Z"),
    0x8001: new Date("2026-05-04T09:00:00Z"),
    0x8002: "Harbour office",
  };
  const file = outlookFile(mail("Meeting", { properties }), { named: [0x820d, 0x820e, 0x8208] });
  expect((await read(file)).text).toBe(
    "Subject: Meeting  \nStart: 2026-05-04 08:00 UTC  \nEnd: 2026-05-04 09:00 UTC  \nPlace: Harbour office\n\nMeeting in words",
  );
});

test("an Outlook contact and a damaged file fail with a reason", async () => {
  const contact = outlookFile(mail("Ann", { properties: { 0x001a: "IPM.Contact" } }));
  await expect(read(contact)).rejects.toThrow("contact");
  await expect(read(Buffer.from("d0cf11e0a1b11ae1", "hex"))).rejects.toThrow(UnreadableFile);
  await expect(read(Buffer.alloc(5_000, 1))).rejects.toThrow(UnreadableFile);
});
