import { scoreTemplate, TEMPLATES, type Template } from "../../../services/reading/testing/tables/scoreTemplate.ts";
import type { TableScores } from "../../../services/reading/testing/tables/facts.ts";
import { progress } from "../tools/progress.ts";

export const FILES_PER_KIND = 40;
/** Seeds that the tests do not use. */
export const FIRST_SEED = 1_000;

export interface JudgedTemplate extends TableScores {
  template: string;
}

/** Reads files whose tables have known content: forms, invoices, statements, spreadsheets. */
export const benchTables = async (): Promise<JudgedTemplate[]> => {
  const judged: JudgedTemplate[] = [];
  const seeds = Array.from({ length: FILES_PER_KIND }, (_, n) => FIRST_SEED + n);
  for (const template of Object.keys(TEMPLATES) as Template[]) {
    progress(`tables: ${FILES_PER_KIND} files of ${template}`);
    judged.push({ template, ...(await scoreTemplate(template, seeds)) });
  }
  return judged;
};

const mean = (values: readonly (number | null)[]): number => {
  const known = values.filter((value) => value !== null);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
};

/** Mean recall over all templates: of cells under their header and of values beside their label. */
export const tableRecall = (judged: readonly JudgedTemplate[]): number =>
  mean(judged.map(({ underHeader, pairs }) => underHeader ?? pairs));

export const tablePrecision = (judged: readonly JudgedTemplate[]): number =>
  mean(judged.map(({ precision }) => precision));
