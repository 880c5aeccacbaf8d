import { expect, test } from "vitest";
import { openPdf } from "./openPdf.ts";
import { writePdf, objectsOf, show } from "./testing/build.ts";

/* In a process of its own: the limits are set once for all files of a process. */

test("the annotations of all pages are limited even if the first page is damaged", async () => {
  const objects = objectsOf(["", show(72, 700, 12, "The second page")]);
  objects[1] = "<</Type/Pages/Kids[9 0 R 6 0 R]/Count 2>>";
  objects[5] = String(objects[5]).replace("/Parent", `/Annots[${"8 0 R ".repeat(5_002)}]/Parent`);
  const link = "<</Type/Annot/Subtype/Link/Rect[72 600 99 630]/A<</S/URI/URI(https://a.example)>>>>";
  const pdf = await openPdf(writePdf([...objects, link, "<</Type/Pages/Count 1/Parent 2 0 R/Kids[(damaged)]>>"]));
  await expect(pdf.getPage(1)).rejects.toThrow();
  expect(await (await pdf.getPage(2)).getAnnotations()).toHaveLength(5_001);
  await pdf.loadingTask.destroy();
});
