import { type BookType, utils, write } from "@e965/xlsx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readExcel, readOds } from "./readSheets.ts";

/* What is drawn on sheets. */

const parts = (bookType: BookType): Record<string, Uint8Array> => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([["Paper"]]), "S");
  return unzipSync(write(book, { type: "buffer", bookType }) as Buffer);
};

test("the description of a picture on a sheet is read, and not the name of its file", async () => {
  const picture = (description: string): string =>
    `<x:pic><x:nvPicPr><x:cNvPr id="1" descr="${description}"/></x:nvPicPr></x:pic>`;
  const relation =
    '<Relationships><Relationship Id="d" Type="urn:x/drawing" Target="../drawings/d.xml"/></Relationships>';
  const file = zipSync({
    ...parts("xlsx"),
    "xl/worksheets/_rels/sheet1.xml.rels": strToU8(relation),
    "xl/drawings/d.xml": strToU8(
      `<x:wsDr xmlns:x="urn:x">${picture("The quay in 1920")}${picture("quay.png")}</x:wsDr>`,
    ),
  });
  expect(await readExcel(file)).toEqual(["## S\n\nPaper\n\nThe quay in 1920"]);
});

test.each(["rect", "ellipse", "line", "path", "connector", "caption"])(
  "text in a shape on a sheet of an OpenDocument file is read: %s",
  async (name) => {
    const { "content.xml": content, ...others } = parts("ods");
    const shape = `<table:shapes><draw:g><draw:${name}><text:p>Closed in May</text:p></draw:${name}></draw:g></table:shapes>`;
    const drawn = strFromU8(content!).replace(/<table:table [^>]*>/, (start) => start + shape);
    expect(await readOds(zipSync({ ...others, "content.xml": strToU8(drawn) }))).toEqual([
      "## S\n\nPaper\n\nClosed in May",
    ]);
  },
);
