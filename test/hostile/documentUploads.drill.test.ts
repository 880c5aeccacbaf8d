import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { realFile } from "../files/index.ts";
import { openReader } from "../knowledge/library.ts";
import { expectRefusal, leavesWell, startTarget } from "./target.ts";

const target = await startTarget();
const reader = openReader(target.platform.url, target.api_key);
const shelf = await reader.collect("Shelf");
leavesWell(() => target, afterEach);

const END = Buffer.from("\r\n--b--\r\n");
const begin = (disposition: string, type = "text/plain") =>
  Buffer.from(`--b\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n`);
const FORM = { "content-type": "multipart/form-data; boundary=b" };
const places = () => [`/api/v1/knowledge/collections/${shelf}/documents`, "/api/v1/extractions"];
const send = (place: string, ...parts: (Buffer | string)[]) =>
  target.send("POST", target.platform.url + place, Buffer.concat(parts.map((part) => Buffer.from(part))), FORM);
const kept = async () => {
  const entries = await readdir(join(target.platform.settings.DATA_DIR, "blobs"), {
    recursive: true,
    withFileTypes: true,
  });
  return entries.filter((entry) => entry.isFile()).length;
};

test("an upload that announces more than 100 MB is refused before its body is sent", async () => {
  const before = await kept();
  for (const place of places()) {
    const { socket, received, closed } = target.open(
      target.head(`POST ${place}`, "Content-Type: multipart/form-data; boundary=b", "Content-Length: 1000000000000"),
    );
    await expect.poll(received).toMatch(/^HTTP\/1\.1 413 [\s\S]*"file_too_large"/);
    socket.destroy();
    await closed;
  }
  expect(await kept()).toBe(before);
});

test("an unfinished upload stores nothing, wherever it is cut off, and disturbs nobody while it hangs", async () => {
  const before = await kept();
  const whole = Buffer.concat([begin('name="file"; filename="a.md"'), Buffer.alloc(300_000, "text "), END]);
  const hanging = places().flatMap((place) =>
    Array.from({ length: 10 }, (_, tenth) => {
      const head = target.head(
        `POST ${place}`,
        "Content-Type: multipart/form-data; boundary=b",
        `Content-Length: ${whole.length}`,
      );
      return target.open(Buffer.concat([Buffer.from(head), whole.subarray(0, (whole.length * tenth) / 10)]));
    }),
  );
  expect((await reader.keep(shelf, { content: "Sent while others hang.", name: "meanwhile.md" })).status).toBe("ready");
  for (const { socket } of hanging) socket.resetAndDestroy();
  await sleep(200);
  const shown = (await reader.call("GET", `/collections/${shelf}/documents?limit=500`)).body.data;
  expect(shown.map(({ name }: any) => name)).toEqual(["meanwhile.md"]);
  expect(await kept()).toBe(before + 3);
});

describe("a filename", () => {
  test.each<[string, string, string | RegExp]>([
    ["that leaves its folder", "../../etc/passwd.md", "passwd.md"],
    ["that leaves its folder on Windows", "..\\..\\boot.md", /boot\.md$/],
    ["that is a device name", "C:\\CON.md", /CON\.md$/],
    ["with a right-to-left override", "\u202egnp.md", "gnp.md"],
    ["with an emoji", "emoji 🎉.md", "emoji 🎉.md"],
    ["with a combining accent", "cafe\u0301.md", "café.md"],
    ["of 5,000 letters", `${"n".repeat(5_000)}.md`, /^n{100,252}\.md$/],
    ["that is __proto__", "__proto__.md", "__proto__.md"],
    ["with a script", "<script>alert(1)</script>.md", /script/],
    ["with filter syntax", 'x" OR org != ".md', /OR org/],
  ])("%s is only displayed", async (_what, sent, shown) => {
    const { status, body } = await reader.upload(shelf, { content: `Named ${sent}.`, name: sent });
    expect([status, body.name]).toEqual([202, typeof shown === "string" ? shown : expect.stringMatching(shown)]);
    expect((await reader.ended(body.id)).status).toBe("ready");
    const content = await reader.call("GET", `/documents/${body.id}/content`);
    expect([content.status, content.headers.get("x-content-type-options")]).toEqual([200, "nosniff"]);
    expect(content.headers.get("content-disposition")).toMatch(/^attachment\b/);
    const { results } = (await reader.search({ query: "named", document_ids: [body.id] })).body;
    expect(results[0].document.name).toBe(body.name);
  });

  test.each([
    ["a line end", 'name="file"; filename="a%0d%0aX-Evil: yes.md"'],
    ["a NUL", 'name="file"; filename="a\u0000b.md"'],
    ["only filename*", "name=\"file\"; filename*=UTF-8''na%C3%AFve.md"],
    ["a filename* that cannot be decoded", "name=\"file\"; filename*=UTF-8''%ff%zz.md"],
    ["no letter", 'name="file"; filename=""'],
  ])("with %s has no effect on the service", async (what, disposition) => {
    for (const place of places()) {
      const answer = await send(place, begin(disposition), `Words of ${what}.`, END);
      if (answer.status !== 202) expectRefusal(answer, 400, answer.body.error.code);
      else expect(answer.body.name).not.toMatch(/[\r\n\0]/);
    }
  });
});

describe("a file that lies about its type", () => {
  const guide = realFile("guide.docx");
  const page = "<!doctype html><html><body><h1>Page</h1><script>alert(1)</script></body></html>";
  test.each<[string, Buffer<ArrayBuffer> | string, string, string, number | string]>([
    ["Word called a PDF", guide, "a.pdf", "application/pdf", MEDIA_TYPES.docx],
    ["Word called text", realFile("guide-pandoc.docx"), "a.txt", "text/plain", MEDIA_TYPES.docx],
    ["a PDF called Word", realFile("guide.pdf"), "a.docx", MEDIA_TYPES.docx, MEDIA_TYPES.pdf],
    ["a sheet called Word", realFile("stock.xlsx"), "a.docx", MEDIA_TYPES.docx, MEDIA_TYPES.xlsx],
    ["an old sheet called Word", realFile("stock.xls"), "a.doc", "application/msword", MEDIA_TYPES.xls],
    ["a page called a picture", page, "a.png", "image/png", 415],
    ["text called a PDF", "Only words.", "a.pdf", "application/pdf", "failed"],
    ["text called Word", "Only words.", "a.docx", MEDIA_TYPES.docx, "failed"],
    ["a page that begins like a PDF", `%PDF-1.7\n${page}`, "a.html", "text/html", "failed"],
    [
      "an archive called Word",
      Buffer.from("504b030414000000000000000000000000000000000000000000010000006100", "hex"),
      "a.docx",
      MEDIA_TYPES.docx,
      "failed",
    ],
  ])("is read by its content, refused or failed: %s", async (_what, content, name, type, comes) => {
    const answer = await reader.extract({ content, name, type });
    if (comes === 415) return expectRefusal(answer, 415, "unsupported_file_type");
    expect(answer.status).toBe(202);
    const record = await reader.extracted(answer.body.id);
    if (comes === "failed") expect([record.status, record.error]).toEqual(["failed", expect.stringMatching(/\S/)]);
    else expect([record.status, record.mime_type]).toEqual(["ready", comes]);
  });
});

test("a page is served in a form that no browser runs", async () => {
  const content = "<!doctype html><html><body><p>Page</p><script>alert(1)</script></body></html>";
  const { id } = await reader.keep(shelf, { content, name: "page.html", type: "text/html" });
  const { headers, text } = await reader.call("GET", `/documents/${id}/content`);
  expect(text).toBe(content);
  expect(headers.get("content-disposition")).toMatch(/^attachment\b/);
  expect(headers.get("content-security-policy")).toContain("sandbox");
  const read = await reader.call("GET", `/documents/${id}/text`);
  expect(read.text).not.toContain("alert");
  expect(read.headers.get("x-content-type-options")).toBe("nosniff");
});
