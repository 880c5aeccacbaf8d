import { typeFromFileName } from "#events/mediaTypes.ts";
import { readFile } from "../../read.ts";
import { boxes, form, invoice, type TestFile } from "./businessPages.ts";
import { ratedSums, sparseItems } from "./estimates.ts";
import { scoreTables, type TableScores } from "./facts.ts";
import { crowdedHeader, mergedCells, officeInvoice } from "./officePages.ts";
import { halfRuled, overPages, statement, typewriter, wrapped } from "./tablePages.ts";
import { severalBlocks, spacerColumns, stackedHeaders } from "./workbooks.ts";

/** Templates of files with tables; fonts, gaps, alignments and rules vary by seed. */
export const TEMPLATES = {
  invoice,
  form,
  boxes,
  statement,
  wrapped,
  halfRuled,
  overPages,
  typewriter,
  spacerColumns,
  severalBlocks,
  stackedHeaders,
  officeInvoice,
  crowdedHeader,
  mergedCells,
  sparseItems,
  ratedSums,
} satisfies Record<string, (seed: number) => TestFile>;

export type Template = keyof typeof TEMPLATES;

export const readTestFile = async ({ name, bytes }: TestFile): Promise<string> =>
  (await readFile({ mime_type: typeFromFileName(name) ?? "", bytes })).markdown;

const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
};

export const meanScores = (scores: readonly TableScores[]): TableScores => ({
  inRow: mean(scores.map((score) => score.inRow)),
  underHeader: mean(scores.map((score) => score.underHeader)),
  precision: mean(scores.map((score) => score.precision)),
  pairs: mean(scores.map((score) => score.pairs)),
});

/** The mean scores of the files that a template makes from these seeds. */
export const scoreTemplate = async (template: Template, seeds: readonly number[]): Promise<TableScores> => {
  const scores: TableScores[] = [];
  for (const seed of seeds) {
    const file = TEMPLATES[template](seed);
    scores.push(scoreTables(file.truth, await readTestFile(file)));
  }
  return meanScores(scores);
};
