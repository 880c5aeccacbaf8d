import { describe, expect, test } from "vitest";
import { readFileAttachment, readImageAttachment } from "./attachment.ts";

const image = (url: unknown) => readImageAttachment(url, "at.image_url.url");
const file = (fields: Record<string, unknown>) => readFileAttachment(fields, "at.file");
const refused = (code: string) => expect.objectContaining({ errorCode: code });

describe("an image attachment", () => {
  test("is named after its media type", () => {
    expect(image("data:image/png;base64,AAAA")).toEqual({
      kind: "inline",
      filename: "image.png",
      mime_type: "image/png",
      base64: "AAAA",
      param: "at.image_url.url",
    });
  });

  test("may have parameters in its media type", () => {
    expect(image("DATA:image/svg+xml;charset=utf-8;base64,AAAA")).toMatchObject({
      mime_type: "image/svg+xml",
      filename: "image.svg",
    });
  });

  test.each([
    "http://models.example/a.png",
    "HTTPS://models.example/a.png",
    "//models.example/a.png",
    "file:///etc/passwd",
    " data:image/png;base64,AAAA",
    "data:image/png,AAAA",
    "data:;base64,AAAA",
    "data:png;base64,AAAA",
    "data:image/png;base64,",
    "data:image/png;base64,!!!!",
    "data:image/png;base64,AAAA ",
    `data:${"a".repeat(3_000)}/b;base64,AAAA`,
    "",
    undefined,
    5,
  ])("is refused with the URL %j", (url) => expect(() => image(url)).toThrow(refused("invalid_attachment")));
});

describe("a file attachment", () => {
  test("in bare base64 gets its media type from its name", () => {
    expect(file({ file_data: "AAAA", filename: "../a.pdf" })).toMatchObject({
      filename: "a.pdf",
      mime_type: "application/pdf",
    });
    expect(file({ file_data: "AAAA" })).toMatchObject({ filename: "file.bin", mime_type: "application/octet-stream" });
  });

  test("in a data URL gets its media type from the URL", () => {
    expect(file({ file_data: "data:text/csv;base64,AAAA", filename: "table.txt" })).toMatchObject({
      filename: "table.txt",
      mime_type: "text/csv",
    });
  });

  test("in a data URL of an unknown type gets its media type from its name", () => {
    const file_data = "data:application/octet-stream;base64,AAAA";
    expect(file({ file_data, filename: "notes.md" })).toMatchObject({ mime_type: "text/markdown" });
    expect(file({ file_data })).toMatchObject({ filename: "file.bin", mime_type: "application/octet-stream" });
  });

  test("may be the id of an uploaded file", () => {
    expect(file({ file_id: "f1" })).toEqual({ kind: "stored", file_id: "f1", param: "at.file.file_id" });
  });

  test.each([
    {},
    { filename: "a.pdf" },
    { file_data: 5 },
    { file_data: "https://models.example/a" },
    { file_data: "AA=A" },
  ])("is refused with the fields %j", (fields) => expect(() => file(fields)).toThrow(refused("invalid_attachment")));

  test("at an address is refused with advice", () =>
    expect(() => file({ file_url: "https://models.example/a.pdf" })).toThrow(
      "at.file.file_url is not supported. Remote files are never fetched: send the bytes",
    ));

  test("over 25 MiB is refused without decoding it", () => {
    const limit = 25 * 1024 * 1024;
    const base64 = (bytes: number) =>
      `${"A".repeat(Math.ceil(bytes / 3) * 4 - ((3 - (bytes % 3)) % 3))}${"=".repeat((3 - (bytes % 3)) % 3)}`;
    expect(file({ file_data: base64(limit) })).toMatchObject({ kind: "inline" });
    expect(() => file({ file_data: base64(limit + 1) })).toThrow(refused("attachment_too_large"));
  });

  test("is not searched to its end for an address", () => {
    const file_data = "a".repeat(32 * 1024 * 1024);
    file({ file_data });
    const before = process.cpuUsage();
    expect(file({ file_data })).toMatchObject({ kind: "inline" });
    expect(process.cpuUsage(before).user).toBeLessThan(50_000);
  });
});
