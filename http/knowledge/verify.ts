import { setImmediate } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { checkAnswer, type CheckedSentence } from "#projections/passages/checkAnswer.ts";
import { formatReference } from "#projections/passages/formatReference.ts";
import { tableHeader } from "#projections/passages/tableHeader.ts";
import type { App } from "../base/app.ts";
import type { Http, StoredPassage } from "../base/deps.ts";
import { copySlice } from "./copySlice.ts";
import { readBlobs } from "./documentPassages.ts";
import { canRead } from "./documentAccess.ts";
import { findAnyDocument, requireVersion } from "./lookups.ts";
import { Verification, VerifyRequest, type Citation } from "./verifyShape.ts";

interface CitedText extends StoredPassage {
  /** Version of the text that was read. */
  version: number;
  text: string;
  /** The header of the table whose rows the text continues. */
  header: string | undefined;
}

/** Reads the cited passages of one document, by number. Empty if the reader cannot access it, it has no text, or it is being processed. */
async function readDocument(
  http: Http,
  request: FastifyRequest,
  { id, version, user }: { id: string; version: number | undefined; user: string | undefined },
  seqs: Iterable<number>,
): Promise<Map<number, CitedText>> {
  const { caller } = request;
  const found = new Map<number, CitedText>();
  const live = await findAnyDocument(http, caller, id);
  if (!live || !(await canRead(http, caller, live, user))) return found;
  const row = version === undefined ? live : await requireVersion(http, caller, { id, user, version });
  const isReadable =
    (version !== undefined || row.status === "ready") && row.passages_blob !== null && row.text_blob !== null;
  const blobs = isReadable ? await readBlobs(http, request, row) : undefined;
  if (!blobs) return found;
  for (const seq of seqs) {
    const [passage] = http.passagesFrom(blobs.passages, seq);
    if (passage?.seq === seq) {
      const { page, section, start, end, lead = "" } = passage;
      const text = copySlice(blobs.text, start, end);
      const place = { version: version ?? row.live_generation!, seq, page, section, start, end };
      found.set(seq, { ...place, text, header: tableHeader({ lead, text }) });
    }
    await setImmediate();
  }
  return found;
}

/** Reads the passage of each citation; undefined if there is none. */
async function readCited(
  http: Http,
  request: FastifyRequest,
  { citations, user }: Pick<VerifyRequest, "citations" | "user">,
): Promise<(CitedText | undefined)[]> {
  const texts = new Map<string, Map<number, CitedText>>();
  const textOf = ({ document_id, version }: Citation): string => `${document_id}/${version ?? ""}`;
  for (const [text, cited] of Map.groupBy(citations, textOf)) {
    const { document_id: id, version } = cited[0]!;
    const seqs = new Set(cited.map(({ seq }) => seq));
    texts.set(text, await readDocument(http, request, { id, version, user }, seqs));
  }
  return citations.map((citation) => texts.get(textOf(citation))?.get(citation.seq));
}

/** Fields without a value are left out. */
const presentPlace = (
  document_id: string,
  { version, seq, page, section }: CitedText,
  span: { start: number; end: number },
) => ({
  document_id,
  version,
  seq,
  ...(page !== null && { page }),
  ...(section !== null && { section }),
  reference: formatReference({ seq, page, section }),
  ...span,
});

type VerificationAnswer = z.infer<typeof Verification>;

interface CitedPassage {
  /** Index of the citation. */
  index: number;
  document_id: string;
  found: CitedText;
}

/** `place`: the range in the passage's text. */
const presentSource = ({ index, document_id, found }: CitedPassage, place: { start: number; end: number }) => ({
  citation: index,
  ...presentPlace(document_id, found, { start: found.start + place.start, end: found.start + place.end }),
  quote: found.text.slice(place.start, place.end),
});

async function verify(http: Http, request: FastifyRequest, body: VerifyRequest): Promise<VerificationAnswer> {
  const { answer, citations } = body;
  const texts = await readCited(http, request, body);
  const cited = citations.flatMap((citation, index) => {
    const found = texts[index];
    const { start_index: start = 0, end_index: end = answer.length } = citation;
    const { document_id } = citation;
    return found ? [{ index, found, document_id, text: found.text, header: found.header, cited: { start, end } }] : [];
  });
  const present = ({ source, start, end, ...sentence }: CheckedSentence): VerificationAnswer["sentences"][number] => ({
    ...sentence,
    start_index: start,
    end_index: end,
    source: source && presentSource(cited[source.passage]!, source),
  });
  const sentences = (await checkAnswer(answer, cited)).map(present);
  const count = (verdict: string): number => sentences.filter((sentence) => sentence.verdict === verdict).length;
  return {
    supported: count("supported"),
    unsupported: count("unsupported"),
    sentences,
    citations: citations.map(({ document_id, seq }, index) => {
      const found = texts[index];
      return found
        ? { ...presentPlace(document_id, found, { start: found.start, end: found.end }), found: true }
        : { document_id, seq, found: false };
    }),
  };
}

/** Compares an answer with its cited passages, without a model. */
export function verifyRoute(app: App, http: Http): void {
  const schema = {
    tags: ["Knowledge"],
    security: [{ key: [] }],
    summary: "Check an answer against the passages that it cites",
    description:
      "Says for each sentence whether a cited passage contains its numbers, its quotes and most of its words. It compares words, not meaning: a sentence that negates its passage counts as supported.",
    body: VerifyRequest,
    response: { 200: Verification },
  };
  app.post("/verify", { schema }, (request) => verify(http, request, request.body));
}
