import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { typeFromFileName } from "#events/mediaTypes.ts";
import { readFile } from "../read.ts";

const folder = new URL("../../../test/files/", import.meta.url);

test.each(["nested.doc", "nested.docx", "nested.odt", "nested.rtf", "source/nested.html"])(
  "a nested table stays in its cell, row by row: %s",
  async (name) => {
    const { markdown } = await readFile({
      mime_type: typeFromFileName(name)!,
      bytes: readFileSync(new URL(name, folder)),
    });
    expect(markdown.split("\n\n")).toEqual([
      "Catches by harbour:",
      [
        "| Harbour | Catch |",
        "| --- | --- |",
        "| North | In tonnes:<br>Year; Sum<br>2024; 100<br>2025; 120 |",
        "| South | In boxes:<br>Year; Sum<br>2024; 300<br>2025; 320 |",
      ].join("\n"),
      "Counted in May.",
    ]);
  },
);
