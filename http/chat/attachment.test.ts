import { describe, expect, test } from "vitest";
import { attachmentOf } from "./attachment.ts";

const image = (url: unknown) => attachmentOf({ type: "image_url", image_url: { url } }, "at");
const file = (fields: unknown) => attachmentOf({ type: "file", file: fields }, "at");
const refused = (code: string) => expect.objectContaining({ errorCode: code });

describe("an image", () => {
  test("is named after its type", () => {
    expect(image("data:image/png;base64,AAAA")).toEqual({
      kind: "inline",
      filename: "image.png",
      mime_type: "image/png",
      base64: "AAAA",
      param: "at.image_url.url",
    });
  });

  test("may carry parameters in its type", () => {
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
  ])("is not taken from %j", (url) => expect(() => image(url)).toThrow(refused("invalid_attachment")));
});

describe("a file", () => {
  test("in bare base64 has its type from its name", () => {
    expect(file({ file_data: "AAAA", filename: "../a.pdf" })).toMatchObject({
      filename: "a.pdf",
      mime_type: "application/pdf",
    });
    expect(file({ file_data: "AAAA" })).toMatchObject({ filename: "file.bin", mime_type: "application/octet-stream" });
  });

  test("in a data URL has the type it says", () => {
    expect(file({ file_data: "data:text/csv;base64,AAAA", filename: "table.txt" })).toMatchObject({
      filename: "table.txt",
      mime_type: "text/csv",
    });
  });

  test("may be one that was uploaded", () => {
    expect(file({ file_id: "f1" })).toEqual({ kind: "stored", file_id: "f1", param: "at.file.file_id" });
  });

  test.each([
    {},
    { filename: "a.pdf" },
    { file_data: 5 },
    { file_data: "https://models.example/a" },
    { file_data: "AA=A" },
    null,
    "x",
  ])("is not taken from %j", (fields) => expect(() => file(fields)).toThrow(refused("invalid_attachment")));

  test("is measured before it is decoded", () => {
    const limit = 25 * 1024 * 1024;
    const base64 = (bytes: number) =>
      `${"A".repeat(Math.ceil(bytes / 3) * 4 - ((3 - (bytes % 3)) % 3))}${"=".repeat((3 - (bytes % 3)) % 3)}`;
    expect(file({ file_data: base64(limit) })).toMatchObject({ kind: "inline" });
    expect(() => file({ file_data: base64(limit + 1) })).toThrow(refused("attachment_too_large"));
  });
});

test("other parts are none", () => expect(attachmentOf({ type: "input_audio" }, "at")).toBeUndefined());
