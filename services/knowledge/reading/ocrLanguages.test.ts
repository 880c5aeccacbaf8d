import { expect, test } from "vitest";
import { chooseLanguages } from "./ocrLanguages.ts";

const languages = (own: string[] | null) => ({
  standard: ["eng"],
  installed: (wanted: readonly string[]) => wanted.filter((one) => ["deu", "eng", "fra"].includes(one)),
  find: () => Promise.resolve(own),
});

test.each<[title: string, own: string[] | null, before: string[] | undefined, chosen: string[]]>([
  ["the deployment's, if the organization has none", null, undefined, ["eng"]],
  ["the organization's, in its order", ["fra", "deu"], undefined, ["fra", "deu"]],
  ["those that the file was read with before", ["fra"], ["deu", "eng"], ["deu", "eng"]],
  ["without those that are not installed any more", ["tha", "fra"], ["ces"], ["fra"]],
  ["the deployment's, if none of the organization's is installed any more", ["tha"], undefined, ["eng"]],
])("a reading looks for %s", async (_title, own, before, chosen) => {
  expect(await chooseLanguages(languages(own), "o1", before)).toEqual(chosen);
});
