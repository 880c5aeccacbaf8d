import { saidIn, seam, shifted, type Round } from "./round.ts";
import type { Speaking } from "./speak.ts";

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

/** What an earlier attempt has recorded, said again for readers who begin with this attempt. */
export function tellAgain(rounds: Round[], tell: Tell): void {
  for (const [round, { reasoning, text, citations, calls, results }] of rounds.entries()) {
    const say = wordsAfter(rounds.slice(0, round), tell);
    if (reasoning !== "") say({ type: "reasoning", text: reasoning });
    if (text !== "") say({ type: "text", text });
    if (citations.length > 0) say({ type: "citations", citations });
    say({ type: "calls", calls });
    for (const [call, result] of results.entries()) if (result) say({ type: "called", call, status: result.status });
  }
}
