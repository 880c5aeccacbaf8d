import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readEml } from "./eml.ts";

const event = (lines: string, kind = "VEVENT"): string => `BEGIN:${kind}\n${lines}\nEND:${kind}\n`;
const calendar = (events: string, method = "REQUEST"): string =>
  `BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:${method}\n${events}END:VCALENDAR\n`;

const part = (body: string, headers = "Content-Type: text/calendar; method=REQUEST"): string =>
  `--x\n${headers}\n\n${body}\n`;

/** The text below the header fields of an e-mail with these parts. */
const read = async (...parts: string[]): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const warnings: ReadingWarning[] = [];
  const mail = `From: a@b.example\nContent-Type: multipart/mixed; boundary=x\n\n${parts.join("")}--x--\n`;
  const [text = ""] = await readEml(Buffer.from(mail.replaceAll("\n", "\r\n")), (warning) => warnings.push(warning));
  return { text: text.slice(text.indexOf("\n\n") + 2), warnings };
};

const leftOut = (count: number): ReadingWarning => ({ code: "embedded_files_left_out", count });

const MEETING = `SUMMARY:Harbour works\\, part 2
DTSTART;TZID=Europe/Berlin:20260302T100000
DTEND;TZID=Europe/Berlin:20260302T113000
LOCATION:Room 4\\nsecond
  floor
ORGANIZER;CN="Lovelace, Ada":mailto:ada@a.example
ATTENDEE;CN=Bo;PARTSTAT=ACCEPTED:mailto:bo@b.example
ATTENDEE;PARTSTAT=NEEDS-ACTION:MAILTO:c@c.example
DESCRIPTION:Bring <the> plans.
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM`;

test("an invitation is read with its title, time, place and attendees", async () => {
  const { text, warnings } = await read(part(calendar(event(MEETING))));
  expect(text.split("\n")).toEqual([
    "Event: Harbour works, part 2  ",
    "Start: 2026-03-02 10:00 (Europe/Berlin)  ",
    "End: 2026-03-02 11:30 (Europe/Berlin)  ",
    "Place: Room 4 second floor  ",
    "Organizer: Lovelace, Ada <ada@a.example>  ",
    "Attendees: Bo <bo@b.example> (accepted), c@c.example",
    "",
    "Bring \\<the> plans.",
  ]);
  expect(warnings).toEqual([]);
});

test("an invitation that is also attached as a file is read once, and its description only if the text lacks it", async () => {
  const body = part("Please come.\nBring <the>\nplans.", "Content-Type: text/plain");
  const file = "Content-Type: application/octet-stream; name=invite.ics\nContent-Disposition: attachment";
  const { text, warnings } = await read(body, part(calendar(event(MEETING))), part(calendar(event(MEETING)), file));
  expect(text.match(/Harbour works/g)).toHaveLength(1);
  expect(text.match(/plans/g)).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test("full days, repetitions, tasks and cancelled events are described as such", async () => {
  const days = event("SUMMARY:Fair\nDTSTART;VALUE=DATE:20260228\nDTEND;VALUE=DATE:20260302");
  const weekly = event("SUMMARY:Jour fixe\nDTSTART:20260302T080000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;BYDAY=MO");
  const task = event("SUMMARY:Send it\nDUE:20260305T120000", "VTODO");
  const { text } = await read(part(calendar(days + weekly + task, "CANCEL")));
  expect(text.replaceAll("  \n", "\n")).toBe(
    [
      "Event: Fair\nStatus: cancelled\nStart: 2026-02-28\nEnd: 2026-03-01",
      "Event: Jour fixe\nStatus: cancelled\nStart: 2026-03-02 08:00 (UTC)\nDuration: PT1H\nRepeats: FREQ=WEEKLY;BYDAY=MO",
      "Task: Send it\nStatus: cancelled\nDue: 2026-03-05 12:00",
    ].join("\n\n"),
  );
});

test("contacts, resources, files and the address of a call are read; files inside the calendar are reported", async () => {
  const lines = `SUMMARY:Works
RESOURCES:Projector,Easel\\, large
RESOURCES:Van
CONTACT:Ann\\, +49 40 123
CATEGORIES:Harbour,Costs
CONFERENCE;VALUE=URI;FEATURE=VIDEO;LABEL=Room 4:https://call.example/4
ATTACH:https://a.example/agenda
ATTACH;FMTTYPE=application/pdf;FILENAME="plan, new.pdf":https://a.example/plan?x=1
ATTACH:CID:part1@a.example
BEGIN:VALARM
ATTACH;VALUE=URI:Basso
END:VALARM`;
  const shown = [
    "Event: Works",
    "Resources: Projector, Easel, large, Van",
    "Conference: Room 4 (https://call.example/4)",
    "Contact: Ann, +49 40 123",
    "Categories: Harbour, Costs",
  ];
  const files = "https://a.example/agenda, plan, new.pdf (https://a.example/plan?x=1)";
  const found = await read(part(calendar(event(lines))));
  expect(found).toEqual({ text: [...shown, `Attachments: ${files}`].join("  \n"), warnings: [] });
  const inline = "ATTACH;ENCODING=BASE64;VALUE=BINARY;X-FILENAME=plan.pdf:JVBERi0xLjQ=";
  expect(await read(part(calendar(event(`SUMMARY:Works\n${inline}`))))).toEqual({
    text: "Event: Works  \nAttachments: plan.pdf",
    warnings: [leftOut(1)],
  });
});

test.each([
  ["without calendar data", "nothing of the kind", ""],
  ["without events", calendar(event("DTSTART:20260302T080000Z", "VFREEBUSY")), ""],
  ["that ends early", calendar(event("SUMMARY:Fair")).replace("END:VCALENDAR\n", ""), "Event: Fair"],
  ["with a broken line", calendar(event("SUMMARY:Fair\nLOCATION Hall")), "Event: Fair"],
])("a calendar %s is reported", async (_, body, text) => {
  const found = await read(part("Hello", "Content-Type: text/plain"), part(body));
  expect(found).toEqual({ text: `Hello${text && `\n\n${text}`}`, warnings: [leftOut(1)] });
});

test("only the first of very many calendars, events and attendees are read", async () => {
  const many = event(`SUMMARY:All\n${"ATTENDEE:mailto:a@a.example\n".repeat(203)}`);
  expect((await read(part(calendar(many)))).text).toMatch(/a@a\.example and 3 more$/);
  const events = Array.from({ length: 501 }, (_, n) => event(`SUMMARY:Nr ${n}`)).join("");
  const { text, warnings } = await read(part(calendar(events)));
  expect(text.match(/^Event: /gm)).toHaveLength(500);
  expect(warnings).toEqual([leftOut(1)]);
  const calendars = Array.from({ length: 22 }, (_, n) => part(calendar(event(`SUMMARY:Nr ${n}`))));
  expect((await read(...calendars)).warnings).toEqual([leftOut(2)]);
});
