import { randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readPdf } from "./readPdf.ts";
import { writePdf, objectsOf, pdfOf, show, stream } from "./testing/build.ts";

const page = show(72, 700, 12, "An ordinary page with ordinary text.");
const good = pdfOf([page]);

/** The ordinary file with some of its objects replaced, by number. */
const withObjects = (changes: Record<number, string | Buffer>): Buffer => {
  const objects = objectsOf([page]);
  for (const [number, object] of Object.entries(changes)) objects[Number(number) - 1] = object;
  return writePdf(objects);
};

const refusal = async (bytes: Uint8Array): Promise<string> => {
  const error: unknown = await readPdf(bytes).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UnreadableFile);
  return (error as Error).message;
};

describe("a PDF is refused with a reason", () => {
  it("if it is not a PDF, or only the beginning of one", async () => {
    const files = [
      "",
      "%PDF-1.7\n",
      "%PDF-1.7\n%%EOF",
      "<html>",
      Buffer.alloc(10_000),
      randomBytes(100_000),
      good.subarray(0, good.length / 2),
    ];
    for (const file of files) expect(await refusal(Buffer.from(file))).toMatch(/damaged/);
  });

  it("if its pages have no text", async () => {
    expect(await refusal(pdfOf([""]))).toMatch(/scanned.*OCR/);
    expect(await refusal(pdfOf(Array.from({ length: 30 }, (_, index) => show(300, 30, 9, String(index + 1)))))).toMatch(
      /scanned/,
    );
  });

  it("if it needs a password", async () => {
    const key = "0".repeat(64);
    const locked = good
      .toString("latin1")
      .replace("/Root 1 0 R", `/Root 1 0 R/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/O<${key}>/U<${key}>/P -4>>`);
    expect(await refusal(Buffer.from(locked, "latin1"))).toMatch(/password/);
  });

  it("if it has too many pages", async () => {
    const kids = "4 0 R ".repeat(5_001);
    expect(await refusal(withObjects({ 2: `<</Type/Pages/Kids[${kids}]/Count 5001>>` }))).toMatch(/5001 pages/);
  });

  it("if a stream unpacks to far more than a page needs, through any number of layers", async () => {
    const once = deflateSync(Buffer.alloc(40_000_000, " "), { level: 9 });
    const packed = [once, deflateSync(once), deflateSync(deflateSync(once))];
    for (const [index, data] of packed.entries()) {
      const filters = `/Filter[${"/FlateDecode".repeat(index + 1)}]`;
      expect(await refusal(withObjects({ 5: stream(data, filters) }))).toMatch(/unpacks/);
    }
  });

  it("if its operators nest too deeply, in one stream or in many", async () => {
    expect(await refusal(pdfOf(["q ".repeat(50_000) + page]))).toMatch(/damaged/);
    expect(await refusal(pdfOf(Array.from({ length: 10 }, () => "q 0 g ".repeat(1_000) + page)))).toMatch(/damaged/);
  });

  it("if its forms draw each other too often or too deeply, with own or shared resources", async () => {
    const forms = (levels: number, draws: number, resources: (next: number) => string) =>
      Array.from({ length: levels }, (_, level) =>
        stream(
          level === levels - 1 ? show(72, 600, 9, "deep") : "/F Do ".repeat(draws),
          `/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources ${resources(7 + level)}`,
        ),
      );
    const direct = (next: number) => `<</XObject<</F ${next} 0 R>>>>`;
    const indirect = (next: number) => `${100 + next} 0 R`;
    expect(await refusal(writePdf([...objectsOf([page]), ...forms(7, 10, direct)]))).toMatch(/forms within forms/);
    expect(await refusal(writePdf([...objectsOf([page]), ...forms(80, 1, direct)]))).toMatch(/forms within forms/);
    const shared = Array.from({ length: 7 }, (_, level) => `${107 + level} 0 obj\n<</XObject<</F ${7 + level} 0 R>>>>`);
    const file = writePdf([...objectsOf([page]), ...forms(7, 10, indirect)]).toString("latin1");
    const withShared = file.replace("\nxref", `\n${shared.join("\nendobj\n")}\nendobj\nxref`);
    expect(await refusal(Buffer.from(withShared, "latin1"))).toMatch(/forms within forms/);
    const few = writePdf([...objectsOf([page]), ...forms(3, 10, direct)]);
    expect(await readPdf(few)).toEqual(["An ordinary page with ordinary text."]);
  });

  it("if its page tree has a cycle", async () => {
    expect(await refusal(withObjects({ 2: "<</Type/Pages/Kids[2 0 R]/Count 1>>" }))).toMatch(/damaged/);
  });

  it("if an object that its pages need is nested too deeply", async () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const fonts = `<</Font<</body<</Type/Font/Subtype/Type1/BaseFont/Helvetica/X ${deep}>>>>>>`;
    expect(await refusal(withObjects({ 3: fonts }))).toMatch(/damaged/);
  });
});

describe("a PDF is read despite", () => {
  const text = ["An ordinary page with ordinary text."];

  it.each(["1000000", "99999999999999999999", "4000"])("a wrong page count (%s)", async (count) => {
    expect(await readPdf(withObjects({ 2: `<</Type/Pages/Kids[4 0 R]/Count ${count}>>` }))).toEqual(text);
  });

  it("a wrong offset of its object table", async () => {
    expect(
      await readPdf(Buffer.from(good.toString("latin1").replace("startxref\n", "startxref\n9"), "latin1")),
    ).toEqual(text);
  });

  it("an object table with a cycle", async () => {
    const file = good.toString("latin1");
    const at = file.lastIndexOf("xref\n0");
    expect(await readPdf(Buffer.from(file.replace("/Root 1 0 R", `/Root 1 0 R/Prev ${at}`), "latin1"))).toEqual(text);
  });

  it("an object stream with a wrong count", async () => {
    const objects = [
      ...objectsOf([page]),
      stream(deflateSync(Buffer.from("4 0 5 50 <<>>")), "/Type/ObjStm/N 100000000/First 9/Filter/FlateDecode"),
    ];
    expect(await readPdf(writePdf(objects))).toEqual(text);
  });

  it("a form that draws itself", async () => {
    const resources = "<</Font<</body<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</X 6 0 R>>>>";
    const form = stream("/X Do /X Do", `/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources ${resources}`);
    const objects = objectsOf([`/X Do ${page}`]);
    objects[2] = resources;
    expect(await readPdf(writePdf([...objects, form]))).toEqual(text);
  });

  it("tags with a cycle", async () => {
    const objects = objectsOf([`/P <</MCID 0>> BDC ${page} EMC`]);
    objects[0] = "<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>";
    objects[3] = String(objects[3]).replace("/Parent", "/StructParents 0/Parent");
    const tree = [
      "<</Type/StructTreeRoot/K 7 0 R/ParentTree 8 0 R>>",
      "<</Type/StructElem/S/P/P 7 0 R/K[7 0 R 0]/Pg 4 0 R>>",
      "<</Nums[0[7 0 R]]>>",
    ];
    expect(await readPdf(writePdf([...objects, ...tree]))).toEqual(text);
  });

  it("absurdly large numbers", async () => {
    const huge = `BT /body 1e30 Tf 1e30 0 0 1e30 1e35 -1e35 Tm (Big) Tj ET ${page}`;
    expect((await readPdf(pdfOf([huge])))[0]).toContain(text[0]);
  });
});
