import { saidIn, seam, shifted, type Round } from "./round.ts";
import type { Speaking } from "#events/ports.ts";

type Tell = (frame: Speaking) => void;

/** What a model says after some rounds, set apart from what was said before. */
export function wordsAfter(rounds: Round[], tell: Tell): Tell {
  if (rounds.length === 0) return tell;
  const before = saidIn(rounds);
  const apart: { text?: string; reasoning?: string } = {};
  return (frame) => {
    switch (frame.type) {
      case "text":
      case "reasoning": {
        const first = apart[frame.type] === undefined;
        const between = (apart[frame.type] ??= seam(before[frame.type], frame.text));
        return tell({ type: frame.type, text: first ? between + frame.text : frame.text });
      }
      case "citations": {
        const by = before.text.length + (apart.text?.length ?? 0);
        return tell({ type: "citations", citations: frame.citations.map((citation) => shifted(citation, by)) });
      }
      case "calls":
      case "called":
        return tell(frame);
    }
  };
}

/** What readers heard of each round: its words, and which of its calls had ended. */
function byRound(heard: Speaking[]): { words: Speaking[]; called: Speaking[] }[] {
  const rounds: { words: Speaking[]; called: Speaking[] }[] = [{ words: [], called: [] }];
  for (const frame of heard) {
    if (frame.type === "calls") rounds.push({ words: [], called: [] });
    else if (frame.type === "called") rounds.at(-2)?.called.push(frame);
    else rounds.at(-1)!.words.push(frame);
  }
  return rounds;
}

const joined = (frames: Speaking[], type: "text" | "reasoning"): string =>
  frames.map((frame) => (frame.type === type ? frame.text : "")).join("");

/** A round's words as they were recorded, in as few pieces as can be. */
function recordedWords(rounds: Round[], at: number): Speaking[] {
  const frames: Speaking[] = [];
  const { reasoning, text, citations } = rounds[at]!;
  const say = wordsAfter(rounds.slice(0, at), (frame) => frames.push(frame));
  if (reasoning !== "") say({ type: "reasoning", text: reasoning });
  if (text !== "") say({ type: "text", text });
  if (citations.length > 0) say({ type: "citations", citations });
  return frames;
}

/** The pieces that were heard, and then what of the record was not; the record alone where they are not its beginning. */
function wordsAgain(heard: Speaking[], recorded: Speaking[]): Speaking[] {
  const rest: Speaking[] = [];
  for (const frame of recorded) {
    if (frame.type === "text" || frame.type === "reasoning") {
      const known = joined(heard, frame.type);
      if (!frame.text.startsWith(known)) return recorded;
      if (frame.text.length > known.length) rest.push({ ...frame, text: frame.text.slice(known.length) });
    } else if (!heard.some(({ type }) => type === frame.type)) rest.push(frame);
  }
  return [...heard, ...rest];
}

/** Everything that readers were told of a turn: what is recorded, and the words of the round that is not. */
export function toldSoFar(rounds: Round[], heard: Speaking[]): Speaking[] {
  const told: Speaking[] = [];
  tellAgain(rounds, heard, (frame) => told.push(frame));
  return [...told, ...(byRound(heard)[rounds.length]?.words ?? [])];
}

/**
 * What an earlier attempt has recorded, said again for readers who begin with this attempt: piece by piece as it was `heard`,
 * so that whoever has counted the pieces finds the same ones.
 */
export function tellAgain(rounds: Round[], heard: Speaking[], tell: Tell): void {
  const before = byRound(heard);
  for (const [at, { calls, results }] of rounds.entries()) {
    const { words, called } = before[at] ?? { words: [], called: [] };
    for (const frame of wordsAgain(words, recordedWords(rounds, at))) tell(frame);
    tell({ type: "calls", calls });
    const told = new Set(called.flatMap((frame) => (frame.type === "called" ? [frame.call] : [])));
    const rest = [...results.entries()].flatMap(([call, result]) =>
      result && !told.has(call) ? [{ type: "called" as const, call, status: result.status }] : [],
    );
    for (const frame of [...called, ...rest]) tell(frame);
  }
}
