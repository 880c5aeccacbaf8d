import { readdirSync, readFileSync } from "node:fs";
import { cutPassages } from "../../../services/reading/passages.ts";
import { questions as proseQuestions, type JudgedQuestion } from "./questions.ts";
import { helpArticles, type Article } from "./synthetic.ts";

/** A document and its passages. */
export interface Work {
  name: string;
  pieces: { text: string; lead: string; section: string | null }[];
}

export interface JudgedSet {
  name: string;
  questions: JudgedQuestion[];
}

const PROSE = new URL("prose/", import.meta.url);

/** The judged texts: prose with realistic questions, and help articles generated from templates. */
export const judgedCorpus = (): { works: Work[]; sets: JudgedSet[] } => {
  const prose = readdirSync(PROSE).map(
    (file): Article => ({ name: file, markdown: readFileSync(new URL(file, PROSE), "utf8") }),
  );
  const help = helpArticles();
  const works = [...prose, ...help.articles].map(toWork);
  const sets = [
    { name: "written questions", questions: proseQuestions },
    { name: "help articles", questions: help.questions },
  ];
  for (const { questions } of sets) for (const judged of questions) assertOneAnswer(judged, works);
  return { works, sets };
};

const toWork = ({ name, markdown }: Article): Work => ({
  name,
  pieces: cutPassages(markdown, { page_count: null, pages: null }).map(({ start, end, lead, section }) => ({
    text: markdown.slice(start, end),
    lead,
    section,
  })),
});

/** Checks that exactly one passage contains each answer. */
const assertOneAnswer = ([question, ...answers]: JudgedQuestion, works: Work[]): void => {
  for (const answer of answers) {
    const answering = works.flatMap(({ pieces }) => pieces.filter(({ text }) => text.includes(answer)));
    if (answering.length !== 1) throw new Error(`${answering.length} passages answer "${question}" with "${answer}"`);
  }
};
