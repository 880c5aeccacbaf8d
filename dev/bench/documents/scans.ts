import { encode } from "fast-png";
import { MEDIA_TYPES } from "../../../events/mediaTypes.ts";
import { createRecognizer } from "../../../infra/readers/recognition/createRecognizer.ts";
import { rotateRight } from "../../../infra/readers/recognition/rotate.ts";
import { readFile } from "../../../services/reading/read.ts";
import { UnreadableFile } from "../../../services/reading/reader.ts";
import { scoreTables, type TableScores } from "../../../services/reading/testing/tables/facts.ts";
import { meanScores, TEMPLATES, type Template } from "../../../services/reading/testing/tables/scoreTemplate.ts";
import { pictureOf, wornPng } from "../../../test/reading/scans.ts";
import { progress } from "../tools/progress.ts";
import { rasterize } from "./rasterize.ts";
import { FILES_PER_KIND, FIRST_SEED, type JudgedTemplate } from "./tables.ts";

/** Templates of one page. */
const SCANNED: Template[] = ["officeInvoice", "halfRuled"];
/** Every fourth page lies on its side. */
const TURNED = 4;

/** A page as an old scanner gives it: askew, grainy, with specks of dust; undefined where pages cannot be drawn. */
const scan = async (pdf: Uint8Array, seed: number): Promise<Buffer | undefined> => {
  const png = await rasterize(pdf);
  if (!png) return undefined;
  const worn = wornPng(png, ((seed % 7) - 3) / 2);
  if (seed % TURNED > 0) return worn;
  const { width, height, pixels } = rotateRight(pictureOf(worn));
  return Buffer.from(encode({ width, height, data: pixels, channels: 1, depth: 8 }));
};

/** A scan in which nothing is found counts as one without the cells of its truth. */
async function recognize(png: Buffer, recognizer: ReturnType<typeof createRecognizer>): Promise<string> {
  try {
    return (await readFile({ bytes: png, mime_type: MEDIA_TYPES.png, recognize: 1 }, recognizer)).markdown;
  } catch (error) {
    if (error instanceof UnreadableFile) return "";
    throw error;
  }
}

const scoreScan = async (template: Template, seed: number, recognizer: ReturnType<typeof createRecognizer>) => {
  const { bytes, truth } = TEMPLATES[template](seed);
  const png = await scan(bytes, seed);
  if (!png) return undefined;
  return scoreTables(truth, await recognize(png, recognizer));
};

const NOTHING: TableScores = { inRow: null, underHeader: null, precision: null, pairs: null };

/** Reads scans of pages whose tables have known content. A row without figures says that pages cannot be drawn here. */
export const benchScans = async (): Promise<JudgedTemplate[]> => {
  const recognizer = createRecognizer({ languages: ["eng"] });
  const judged: JudgedTemplate[] = [];
  try {
    for (const template of SCANNED) {
      const scores: TableScores[] = [];
      for (let n = 0; n < FILES_PER_KIND; n++) {
        progress(`scans: ${n} of ${FILES_PER_KIND} files of ${template}`);
        const score = await scoreScan(template, FIRST_SEED + n, recognizer);
        if (score) scores.push(score);
        else return [...judged, { template: "scans (skipped: there is no canvas to draw pages)", ...NOTHING }];
      }
      judged.push({ template: `scanned ${template}`, ...meanScores(scores) });
    }
    return judged;
  } finally {
    await recognizer.close();
  }
};
