import { readdirSync, readFileSync } from "node:fs";
import { cutPassages } from "../../services/reading/passages.ts";
import { questions as written, type Judged } from "./questions.ts";
import { helpArticles, type Article } from "./synthetic.ts";

export interface Work {
  name: string;
  pieces: { text: string; lead: string; section: string | null }[];
}

export interface JudgedSet {
  name: string;
  questions: Judged[];
}

const PROSE = new URL("prose/", import.meta.url);

/** Everything that is judged: texts that were written for it with questions as people ask them, and help articles made from templates. */
export const judgedCorpus = (): { works: Work[]; sets: JudgedSet[] } => {
  const prose = readdirSync(PROSE).map(
    (file): Article => ({ name: file, markdown: readFileSync(new URL(file, PROSE), "utf8") }),
  );
  const help = helpArticles();
  const works = [...prose, ...help.articles].map(workOf);
  const sets = [
    { name: "written questions", questions: written },
    { name: "help articles", questions: help.questions },
  ];
  for (const { questions } of sets) for (const judged of questions) checkAnswered(judged, works);
  return { works, sets };
};

const workOf = ({ name, markdown }: Article): Work => ({
  name,
  pieces: cutPassages(markdown, null).map(({ start, end, lead, section }) => ({
    text: markdown.slice(start, end),
    lead,
    section,
  })),
});

const checkAnswered = ([question, ...answers]: Judged, works: Work[]): void => {
  for (const answer of answers) {
    const having = works.flatMap(({ pieces }) => pieces.filter(({ text }) => text.includes(answer)));
    if (having.length !== 1) throw new Error(`${having.length} passages answer "${question}" with "${answer}"`);
  }
};
