import { type AnnotationBudget, MAX_PAGE_ANNOTATIONS } from "./annotationLimits.ts";
import { transformPoint, type Box, type Matrix, overlap } from "./geometry.ts";
import { normalizeText } from "./characters.ts";
import type { PdfPage } from "./openPdf.ts";
import { cutRun, type TextRun } from "./runs.ts";

/** A link, a form field or a typed note on a page, as pdf.js describes it. */
export interface Annotation {
  id?: string;
  subtype?: string;
  url?: string;
  rect?: number[];
  hidden?: boolean;
  password?: boolean;
  fieldType?: string;
  fieldValue?: unknown;
  checkBox?: boolean;
  radioButton?: boolean;
  pushButton?: boolean;
  /** The choices of a list. All are visible in a list box, and only the selected one in a drop-down list (`combo`). */
  options?: { exportValue?: unknown; displayValue?: unknown }[];
  combo?: boolean;
  buttonValue?: string;
  textContent?: string[];
  contentsObj?: { str?: string };
  /** Whether the file contains its drawing. */
  hasAppearance?: boolean;
  defaultAppearanceData?: { fontSize?: number };
}

interface Link extends Box {
  url: string;
}

const toBox = (rect: readonly number[], matrix: Matrix): Box => {
  const [ax, ay] = transformPoint(matrix, rect[0]!, rect[1]!);
  const [bx, by] = transformPoint(matrix, rect[2]!, rect[3]!);
  return { x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) };
};

/** The displayed choices, which may differ from the stored ones. */
const chosenOptions = (chosen: readonly unknown[], options: NonNullable<Annotation["options"]>): string[] => {
  // of two choices with the same stored value the first is displayed
  const shown = new Map(options.toReversed().map(({ exportValue, displayValue }) => [exportValue, displayValue]));
  return chosen.map((value) => shown.get(value) ?? value).filter((value) => typeof value === "string");
};

/** The displayed lines of a field; none if it is empty, hidden or a password. */
function fieldLines(field: Annotation): string[] {
  if (field.hidden === true || field.password === true) return [];
  if (field.subtype === "FreeText") return field.textContent ?? [];
  if (field.subtype !== "Widget") return [];
  const { fieldType, fieldValue: value } = field;
  if (fieldType === "Tx" && typeof value === "string")
    // a computed value may be only in the drawing
    return value === "" && field.hasAppearance === true ? (field.textContent ?? []) : value.split(/\r\n?|\n/);
  if (fieldType === "Ch" && Array.isArray(value)) return [chosenOptions(value, field.options ?? []).join(", ")];
  return [];
}

const isBox = ({ subtype, fieldType, checkBox, radioButton, hidden }: Annotation): boolean =>
  subtype === "Widget" && fieldType === "Btn" && (checkBox === true || radioButton === true) && hidden !== true;

/** Whether a box is checked. */
const boxSign = ({ radioButton, buttonValue, fieldValue: value }: Annotation): string => {
  const chosen = radioButton === true ? value === buttonValue : value !== "Off";
  return chosen && typeof value === "string" ? "☒" : "☐";
};

const toRuns = (field: Annotation, box: Box, shown: readonly string[]): TextRun[] => {
  const lines = shown.map(normalizeText);
  const lineHeight = (box.y1 - box.y0) / Math.max(1, lines.length);
  const size = Math.max(4, Math.min(field.defaultAppearanceData?.fontSize || 10, lineHeight));
  return lines.flatMap((text, index) => {
    if (text.trim() === "") return [];
    const baseline = box.y0 + lineHeight * index + lineHeight / 2 + size * 0.3;
    const x1 = Math.min(box.x1, box.x0 + text.length * size * 0.5);
    const [y0, y1] = [baseline - size * 0.75, baseline + size * 0.22];
    return [
      { text, x0: box.x0, x1, y0, y1, baseline, size, font: "", spaced: true, mark: null, artifact: false, link: null },
    ];
  });
};

export interface Overlay {
  links: Link[];
  /** Text of form fields and typed notes. */
  filled: TextRun[];
  /** Marks of boxes, checked or not. */
  boxes: TextRun[];
  /** Whether comments or stamps are attached to the page, or mark its text. */
  hasComments: boolean;
  /** Whether files or recordings are attached to the page. */
  hasFiles: boolean;
  /** Whether it contains a list without a selection. */
  hasOpenChoices: boolean;
}

/** Comments that appear on a click. A typed note (`FreeText`) shows its text. */
const COMMENTS = new Set(
  "Text Highlight Underline StrikeOut Squiggly Caret Ink Square Circle Line Polygon PolyLine Stamp".split(" "),
);
/** The drawing of these may contain text, and is not read. */
const DRAWN = new Set(["Stamp", "Watermark", "Redact"]);
const isComment = ({ subtype = "", contentsObj, hasAppearance = false }: Annotation): boolean =>
  (COMMENTS.has(subtype) && (contentsObj?.str ?? "").trim() !== "") || (DRAWN.has(subtype) && hasAppearance);

const FILES = new Set(["FileAttachment", "Sound", "Movie", "Screen", "RichMedia"]);

const isChosen = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "";

const isOpenChoice = ({ fieldType, hidden, combo, options = [], fieldValue }: Annotation): boolean =>
  fieldType === "Ch" && hidden !== true && combo !== true && options.length > 0 && !isChosen(fieldValue);

export interface PageAnnotations {
  annotations: Annotation[];
  /** Whether the page has more annotations than the limit. */
  isCut: boolean;
}

/** The annotations of a page, within the rest of the budget. */
export async function readAnnotations(page: PdfPage, budget: AnnotationBudget): Promise<PageAnnotations> {
  if (budget.isSpent) return { annotations: [], isCut: true };
  const start = performance.now();
  const all = (await page.getAnnotations().catch(() => [])) as Annotation[];
  budget.take(all.length, performance.now() - start);
  return { annotations: all.slice(0, MAX_PAGE_ANNOTATIONS), isCut: all.length > MAX_PAGE_ANNOTATIONS };
}

const idsOf = (annotations: readonly Annotation[], wanted: (one: Annotation) => boolean): string[] =>
  annotations.flatMap((one) =>
    wanted(one) && one.hasAppearance === true && one.hidden !== true && one.id !== undefined ? [one.id] : [],
  );

/** The ids of fields whose text is only in their drawing: signers and dates, and the captions of buttons. */
export const drawnFields = (annotations: readonly Annotation[]): { signatures: string[]; buttons: string[] } => ({
  signatures: idsOf(annotations, ({ fieldType }) => fieldType === "Sig"),
  buttons: idsOf(annotations, ({ fieldType, pushButton }) => fieldType === "Btn" && pushButton === true),
});

/** The text of a page's annotations. `matrix` converts from PDF units to page coordinates. */
export function readOverlay(annotations: readonly Annotation[], matrix: Matrix): Overlay {
  const overlay: Overlay = {
    links: [],
    filled: [],
    boxes: [],
    hasComments: false,
    hasFiles: false,
    hasOpenChoices: false,
  };
  for (const one of annotations) {
    overlay.hasOpenChoices ||= isOpenChoice(one);
    overlay.hasFiles ||= FILES.has(one.subtype ?? "");
    overlay.hasComments ||= isComment(one);
    if (one.rect?.length !== 4) continue;
    const box = toBox(one.rect, matrix);
    if (one.subtype === "Link" && one.url !== undefined) overlay.links.push({ ...box, url: one.url });
    overlay.filled.push(...toRuns(one, box, fieldLines(one)));
    if (isBox(one)) overlay.boxes.push(...toRuns(one, box, [boxSign(one)]));
  }
  return overlay;
}

/** Adds the links' URLs to the runs. A run that is only partly a link is cut. */
export function addLinks(runs: readonly TextRun[], links: readonly Link[]): TextRun[] {
  if (links.length === 0) return [...runs];
  return runs.flatMap((run) => {
    const middle = run.baseline - run.size * 0.3;
    const covering = links.filter(
      (link) => middle > link.y0 && middle < link.y1 && overlap(run.x0, run.x1, link.x0, link.x1) > run.size * 0.3,
    );
    if (covering.length === 0) return [run];
    const edges = covering.flatMap((link) => [link.x0, link.x1]).toSorted((a, b) => a - b);
    return cutRun(run, edges).map((part) => {
      const link = covering.find((one) => (part.x0 + part.x1) / 2 > one.x0 && (part.x0 + part.x1) / 2 < one.x1);
      return { ...part, link: link?.url ?? null };
    });
  });
}
