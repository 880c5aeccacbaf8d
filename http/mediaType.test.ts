import { expect, test } from "vitest";
import { mediaType, nameOfType, typeOfName } from "./mediaType.ts";

test.each([
  ["image/png", "image/png"],
  ["Text/HTML; charset=utf-8", "text/html"],
  ["nonsense", "application/octet-stream"],
  ["a/b\r\nX: y", "application/octet-stream"],
  ["", "application/octet-stream"],
])("%j is %j", (declared, type) => expect(mediaType(declared)).toBe(type));

test.each([
  ["image/png", "image.png"],
  ["application/pdf", "file.pdf"],
  ["application/x-unheard-of", "file.bin"],
])("%s is named %s", (type, name) => expect(nameOfType(type)).toBe(name));

test.each([
  ["a.pdf", "application/pdf"],
  ["a", "application/octet-stream"],
])("%s is of type %s", (name, type) => expect(typeOfName(name)).toBe(type));
