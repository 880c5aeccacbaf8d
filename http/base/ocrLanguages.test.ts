import { expect, test } from "vitest";
import { ApiError } from "./errors.ts";
import { requireLanguages } from "./ocrLanguages.ts";

const http = { ocrLanguages: ["deu", "eng", "fra", "ita", "spa"] };
const check = (...sent: string[]) => requireLanguages(http, "languages", sent);

test("languages keep their order and are named once", () => {
  expect(check("fra", "deu", "fra")).toEqual(["fra", "deu"]);
});

test.each<[sent: string[], message: string]>([
  [["deu", "xyz"], '"xyz" is not installed'],
  [[""], '"" is not installed'],
  [["x".repeat(9_000)], `"${"x".repeat(50)}" is not installed`],
  [[], "must name 1 to 4 languages"],
  [http.ocrLanguages, "must name 1 to 4 languages"],
])("%j are refused with the field and the installed languages", (sent, message) => {
  const whole = `languages: ${message}. Installed are deu, eng, fra, ita, spa.`;
  expect(() => check(...sent)).toThrow(ApiError);
  expect(() => check(...sent)).toThrow(
    expect.objectContaining({ message: whole, status: 400, errorCode: null, param: "languages" }),
  );
});
