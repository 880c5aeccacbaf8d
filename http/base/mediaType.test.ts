import { expect, test } from "vitest";
import { parseMediaType, defaultFilename, mediaTypeFromName } from "./mediaType.ts";

test.each([
  ["image/png", "image/png"],
  ["Text/HTML; charset=utf-8", "text/html"],
  ["nonsense", "application/octet-stream"],
  ["a/b\r\nX: y", "application/octet-stream"],
  ["", "application/octet-stream"],
])("the media type %j is read as %j", (declared, type) => expect(parseMediaType(declared)).toBe(type));

test.each([
  ["image/png", "image.png"],
  ["application/pdf", "file.pdf"],
  ["application/x-unheard-of", "file.bin"],
])("a file of type %s is named %s by default", (type, name) => expect(defaultFilename(type)).toBe(name));

test.each([
  ["a.pdf", "application/pdf"],
  ["a", "application/octet-stream"],
])("the file %s is of type %s", (name, type) => expect(mediaTypeFromName(name)).toBe(type));
