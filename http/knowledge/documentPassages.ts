import { setImmediate } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { decodeUtf8 } from "#events/decodeUtf8.ts";
import { streamName } from "#events/ids.ts";
import { estimateTextBytes } from "#events/textSize.ts";
import type { DocumentRow } from "#projections/documents/query.ts";
import { tableHeader } from "#projections/passages/tableHeader.ts";
import type { App } from "../base/app.ts";
import type { Http, StoredPassage } from "../base/deps.ts";
import { PageQuery, readPage } from "../base/pagination.ts";
import { waitToRead } from "../base/sendFile.ts";
import { noExtractedText, requireText } from "./documentContent.ts";
import { VersionQuery } from "./documentShape.ts";
import { requireReadable, requireVersion } from "./lookups.ts";

/** Maximum UTF-16 units of text per page, unless the first passage alone is longer. */
const MAX_TEXT = 1_000_000;
/** Passages parsed before other work may run: those before `from_page` are parsed, too. */
const PARSED_AT_ONCE = 1_000;

export const Passage = z
  .object({
    seq: z.int().describe("0, 1, 2 … in the document. Search and citations name passages by it."),
    page: z.int().nullable().describe("From 1; null if the type has no pages."),
    section: z.string().nullable().describe("The headings above it; null before the first heading."),
    start: z.int().describe("Where it begins in the Markdown of the document, in UTF-16 code units."),
    end: z.int().describe("Where it ends, which is where the next one begins."),
    table_header: z
      .string()
      .optional()
      .describe("The header, in Markdown, of the table whose rows `text` continues; not part of `text`."),
    text: z.string(),
  })
  .meta({ title: "Passage" });
const whole = () =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .optional();
const Query = VersionQuery.extend({
  from_seq: whole().describe("The first passage. Default: 0."),
  from_page: whole().describe("Instead of `from_seq`: from the first passage of this page on."),
  limit: PageQuery.shape.limit,
});
const Page = z.object({
  data: z.array(Passage),
  total: z.int().describe("Passages of the document."),
  next_from_seq: z.int().nullable().describe("`from_seq` of the next page; null after the last passage."),
});

/** Reads the text and the passages of one generation. Undefined if a blob was deleted because the next generation became live. */
export async function readBlobs(
  { vault }: Http,
  request: FastifyRequest,
  row: DocumentRow,
): Promise<{ text: string; passages: Buffer } | undefined> {
  const key = { thing: streamName("document", row.id), wrapped_key: row.wrapped_key };
  if (row.passages_blob === null || row.text_blob === null) throw noExtractedText();
  await waitToRead(request, estimateTextBytes(row));
  const [text, passages] = await Promise.all([vault.get(key, row.text_blob), vault.get(key, row.passages_blob)]);
  return text && passages && { text: await decodeUtf8(text), passages };
}

interface PassageRange {
  from_seq: number;
  /** First page whose passages are included. */
  from_page: number;
  limit: number;
  user: string | undefined;
  /** Undefined: the version that search uses. */
  version: number | undefined;
}

/** The passages of a page of the answer, and the number of the next one. Other work may run in between. */
export async function cutPage(
  passages: Iterable<StoredPassage>,
  text: string,
  { from_page, limit }: Pick<PassageRange, "from_page" | "limit">,
): Promise<Pick<z.infer<typeof Page>, "data" | "next_from_seq">> {
  const data: z.infer<typeof Passage>[] = [];
  let [length, parsed] = [0, 0];
  for (const { seq, page, section, start, end, lead = "" } of passages) {
    if (++parsed % PARSED_AT_ONCE === 0) await setImmediate();
    if (page !== null && page < from_page) continue;
    length += end - start;
    if (data.length === limit || (data.length > 0 && length > MAX_TEXT)) return { data, next_from_seq: seq };
    const own = text.slice(start, end);
    const table_header = tableHeader({ lead, text: own });
    data.push({ seq, page, section, start, end, ...(table_header !== undefined && { table_header }), text: own });
  }
  return { data, next_from_seq: null };
}

async function readPassages(http: Http, request: FastifyRequest, id: string, wanted: PassageRange) {
  const { caller } = request;
  const { from_seq, user, version } = wanted;
  const find = () =>
    version === undefined
      ? requireReadable(http, caller, id, user)
      : requireVersion(http, caller, { id, user, version });
  const row = await find();
  if (version === undefined) requireText(row);
  const current = (await readBlobs(http, request, row)) ?? (await readBlobs(http, request, await find()));
  if (!current) throw noExtractedText();
  const passages = http.passagesFrom(current.passages, from_seq);
  return { ...(await cutPage(passages, current.text, wanted)), total: row.chunk_count };
}

/** Passages of a document, as in search results and citations. Joined, they are its Markdown. */
export function passageRoutes(app: App, http: Http): void {
  const listing = {
    tags: ["Knowledge"],
    security: [{ key: [] }],
    summary: "List the passages of a document, in order",
    description: "Passages follow each other without a gap, so their texts together are the Markdown of the document.",
    params: z.object({ id: z.string() }),
    querystring: Query,
    response: { 200: Page },
  };
  app.get("/documents/:id/passages", { schema: listing }, (request) => {
    const { params, query } = request;
    const { limit } = readPage(query);
    const { from_seq = 0, from_page = 0, user, version } = query;
    const wanted = {
      from_seq: Number(from_seq),
      from_page: Number(from_page),
      limit,
      user,
      version: version === undefined ? undefined : Number(version),
    };
    return readPassages(http, request, params.id, wanted);
  });
}
