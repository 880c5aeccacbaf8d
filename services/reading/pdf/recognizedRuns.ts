import type { DrawnLine, RecognizedLine, RecognizedPicture, RecognizedWord } from "../pictures/recognizer.ts";
import { normalizeText } from "./characters.ts";
import { median } from "./geometry.ts";
import { mergeRules, type Rule, type Rules } from "./rules.ts";
import type { TextRun } from "./runs.ts";

/** Maximum relative difference of a line's size from the usual text size: measured sizes vary by 10 %, and headings are larger. */
const SAME_SIZE = 0.16;
/** Below this confidence, words without a letter or digit are dirt. */
const MIN_SIGN_CONFIDENCE = 50;

/** As a multiple of the text's size. */
const MAX_GAP = 0.9;

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, one) => sum + one, 0) / Math.max(1, numbers.length);

const isText = ({ text, confidence }: RecognizedWord): boolean =>
  confidence >= MIN_SIGN_CONFIDENCE || /[\p{L}\p{N}]/u.test(text);

/** The size of most text, in pixels. */
const bodySize = (lines: readonly RecognizedLine[]): number =>
  median(lines.flatMap(({ size, words }) => words.map(() => size)));

/** The drawn lines of a recognized picture in points, as if a PDF had drawn them. */
export function toRules({ drawn }: RecognizedPicture, pixelsPerPoint: number): Rules {
  const toPoints = (lines: readonly DrawnLine[]): Rule[] =>
    mergeRules(
      lines.map(({ at, from, to }) => ({
        at: at / pixelsPerPoint,
        from: from / pixelsPerPoint,
        to: to / pixelsPerPoint,
      })),
    );
  return { across: toPoints(drawn.across), down: toPoints(drawn.down) };
}

/** A line's words in groups, separated by drawn lines, and by gaps as wide as those between columns and cells. */
function groupWords(words: readonly RecognizedWord[], size: number, isParted: (x0: number, x1: number) => boolean) {
  const groups: RecognizedWord[] = [];
  for (const word of words) {
    const before = groups.at(-1);
    if (before && word.x0 - before.x1 < MAX_GAP * size && word.x0 >= before.x0 && !isParted(before.x1, word.x0))
      groups[groups.length - 1] = { ...before, text: `${before.text} ${word.text}`, x1: word.x1 };
    else groups.push(word);
  }
  return groups;
}

/** The lines of a recognized picture with sufficient confidence, and the confidence. None if the picture as a whole is doubtful. */
export function keepConfidentLines(picture: RecognizedPicture, minConfidence: number): RecognizedPicture {
  const sureness = ({ words }: RecognizedLine): number => mean(words.map(({ confidence }) => confidence));
  const isSure = (line: RecognizedLine): boolean =>
    picture.confidence >= minConfidence && line.words.some(isText) && sureness(line) >= minConfidence;
  const paragraphs = picture.paragraphs.map((lines) => lines.filter(isSure)).filter((lines) => lines.length > 0);
  return { ...picture, paragraphs, confidence: Math.round(mean(paragraphs.flat().map(sureness))) };
}

/** The words of a recognized picture as if a PDF contained them. `pixelsPerPoint`: the picture's resolution. */
export function toRuns({ paragraphs, drawn }: RecognizedPicture, pixelsPerPoint: number): TextRun[] {
  const body = bodySize(paragraphs.flat());
  return paragraphs.flatMap((lines) => {
    const own = median(lines.map(({ size }) => size));
    const pixels = Math.abs(own - body) < SAME_SIZE * body ? body : own;
    const size = Math.max(1, Math.round((pixels / pixelsPerPoint) * 2) / 2);
    return lines.flatMap(({ words, baseline }) => {
      const y = baseline / pixelsPerPoint;
      const walls = drawn.down.filter(({ from, to }) => from <= baseline && to >= baseline - pixels);
      const isParted = (x0: number, x1: number): boolean => walls.some(({ at }) => at >= x0 && at <= x1);
      return groupWords(words.filter(isText), pixels, isParted).map(({ text, x0, x1 }) => ({
        text: normalizeText(text),
        x0: x0 / pixelsPerPoint,
        x1: x1 / pixelsPerPoint,
        y0: y - size * 0.75,
        y1: y + size * 0.22,
        baseline: y,
        size,
        font: "",
        spaced: true,
        mark: null,
        artifact: false,
        link: null,
      }));
    });
  });
}
