import { expect, test, vi } from "vitest";
import { readFetchRequest } from "./fetchRequest.ts";

const requestWith = (headers: number) => ({
  url: "https://a.example/",
  method: "POST",
  headers: Array.from({ length: headers }, (_, n) => [`x-${n}`, 'a "quoted" value']),
  body: JSON.stringify({ list: Array.from({ length: 1_000 }, (_, n) => n) }),
});

test("a script's fetch may have a hundred headers and any text as its body", () => {
  const request = requestWith(100);
  expect(readFetchRequest(JSON.stringify(request))).toEqual(request);
});

test("a script's fetch with very many headers is refused before they are read", () => {
  const json = JSON.stringify(requestWith(20_000));
  const parse = vi.spyOn(JSON, "parse");
  expect(() => readFetchRequest(json)).toThrow("the headers are too long");
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});
