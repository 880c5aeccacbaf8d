import { readFileSync } from "node:fs";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readDocx } from "./docx.ts";

const guide = readFileSync(new URL("../../../test/files/guide.docx", import.meta.url));

/** The document with `w:` replaced in all names of its parts. */
const renamed = (prefix: string): Uint8Array => {
  const rewrite = (xml: string): string =>
    xml
      .replaceAll("xmlns:w=", prefix === "" ? "xmlns=" : `xmlns:${prefix}=`)
      // a default namespace is none of attributes
      .replace(/(<\/?| )w:/g, (_, before: string) =>
        prefix === "" ? (before === " " ? " w:" : before) : `${before}${prefix}:`,
      )
      .replace(/<(?:document|styles|numbering|footnotes) (?!.*xmlns:w=)/, (start) =>
        prefix === "" ? `${start}xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` : start,
      );
  return zipSync(
    Object.fromEntries(
      Object.entries(unzipSync(guide)).map(([name, bytes]) => [
        name,
        /^word\/[a-z]+\.xml$/.test(name) ? strToU8(rewrite(strFromU8(bytes))) : bytes,
      ]),
    ),
  );
};

test.each([["ns0"], [""]])("a document with the name prefix '%s' gives the same Markdown", async (prefix) => {
  expect(await readDocx(renamed(prefix))).toEqual(await readDocx(guide));
});
