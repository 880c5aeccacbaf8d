import { readFile as load } from "node:fs/promises";
import { join } from "node:path";
import { typeFromFileName } from "../../../events/mediaTypes.ts";
import { twoColumnPaper } from "../../../services/reading/pdf/testing/paper.ts";
import { readFile } from "../../../services/reading/read.ts";
import { headingScore, readingScore, tableScore } from "../../../services/reading/testing/score.ts";
import { progress } from "../tools/progress.ts";
import { makers, type Maker } from "./makers.ts";
import { makeManual } from "./manual.ts";
import { FILES_PER_KIND, FIRST_SEED } from "./tables.ts";

/** Similarities to the known text, from 0 to 1; null if the files could not be made or have nothing of the kind. */
export interface JudgedTexts {
  kind: string;
  text: number | null;
  headings: number | null;
  tables: number | null;
}

export const TWO_COLUMNS = "PDF in two columns";

interface KnownText {
  truth: string;
  name: string;
  bytes: Buffer;
}

const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
};

const judge = async (kind: string, files: readonly KnownText[]): Promise<JudgedTexts> => {
  const scores: Omit<JudgedTexts, "kind">[] = [];
  for (const { truth, name, bytes } of files) {
    progress(`texts: ${scores.length} of ${files.length} files of ${kind}`);
    const { markdown } = await readFile({ mime_type: typeFromFileName(name) ?? "", bytes });
    scores.push({
      text: readingScore(truth, markdown),
      headings: headingScore(truth, markdown),
      tables: tableScore(truth, markdown),
    });
  }
  return {
    kind,
    text: mean(scores.map(({ text }) => text)),
    headings: mean(scores.map(({ headings }) => headings)),
    tables: mean(scores.map(({ tables }) => tables)),
  };
};

const SEEDS = Array.from({ length: FILES_PER_KIND }, (_, n) => FIRST_SEED + n);

const papers = (): KnownText[] =>
  SEEDS.map((seed) => {
    const { pdf, markdown } = twoColumnPaper(seed);
    return { truth: markdown, name: "paper.pdf", bytes: pdf };
  });

/** Files that another program made. A row without figures says why there are none. */
const judgeMade = async ({ kind, extension, make }: Maker, folder: string): Promise<JudgedTexts> => {
  const nothing = { text: null, headings: null, tables: null };
  const manuals = SEEDS.map(makeManual);
  try {
    const made = await make(manuals, folder);
    if (!made) return { kind: `${kind} (skipped: not installed)`, ...nothing };
    const files: KnownText[] = [];
    for (const [n, { markdown }] of manuals.entries())
      files.push({ truth: markdown, name: `x.${extension}`, bytes: await load(join(folder, made[n]!)) });
    return await judge(kind, files);
  } catch (error) {
    console.error(`\n${kind}: ${error instanceof Error ? error.message : String(error)}`);
    return { kind: `${kind} (skipped: they could not be made)`, ...nothing };
  }
};

/** Reads files whose text is known: papers in two columns, and manuals by pandoc and LibreOffice if these are installed. */
export const benchTexts = async (folder: string): Promise<JudgedTexts[]> => {
  const judged = [await judge(TWO_COLUMNS, papers())];
  for (const maker of makers) judged.push(await judgeMade(maker, folder));
  return judged;
};
