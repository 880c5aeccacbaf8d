import type { FastifyRequest } from "fastify";
import { streamName } from "#events/ids.ts";
import type { Attachment, Message } from "#events/prompt.ts";
import { createPause } from "#events/slices.ts";
import { listFilesIn, listFilesOf, type FileRow } from "#projections/files/query.ts";
import type { OwnedPage } from "#projections/owner.ts";
import { listTurns, type ThreadTurn } from "#projections/turns/threadTurns.ts";
import { listThreadsIn, listThreadsOf, type ThreadRow } from "#projections/turns/threads.ts";
import { getMember } from "#projections/users/query.ts";
import { presentMember } from "../account/memberShape.ts";
import { createCursor } from "../audit/cursor.ts";
import { presentEvent } from "../audit/eventShape.ts";
import type { Http } from "../base/deps.ts";
import { presentThread } from "./threadShape.ts";
import { readFile } from "../turns/files.ts";
import { readTurnInput } from "../turns/turnInput.ts";
import { createMatcher, type Subject } from "./exportSubject.ts";

export interface ExportLine {
  type: string;
  [field: string]: unknown;
}

export const ROWS_PER_QUERY = 50;
const EVENTS = 50;
/** Maximum bytes of stored text per query of turns. */
const PAGE_BYTES = 2_000_000;
/** Maximum bytes of a file per line, before base64. */
const PART_BYTES = 768 * 1024;

export interface ExportScope {
  http: Http;
  organization_id: string;
  subject: Subject;
  /** The newest position of the log that the export includes. */
  until: number;
  /** SHA-256 of contents and ids of approvals that were sent, so that each is sent once. */
  sent: Set<string>;
  /** Throws if the administrator's session or role has ended. */
  recheck: NonNullable<FastifyRequest["recheckCredential"]>;
}

export type ExportLines = AsyncGenerator<ExportLine>;

/** Yields the rows of all pages, newest first. */
export async function* readRows<R extends { position: number }>(
  { until, recheck }: ExportScope,
  read: (page: OwnedPage) => Promise<R[]>,
): AsyncGenerator<R> {
  for (let before = until + 1; ; ) {
    await recheck();
    const rows = await read({ before, limit: ROWS_PER_QUERY });
    yield* rows;
    if (rows.length < ROWS_PER_QUERY) return;
    before = rows.at(-1)!.position;
  }
}

/** Yields the bytes of a file in parts, as base64. `of`: fields that name the file. */
export function* contentLines(of: object, bytes: Buffer): Generator<ExportLine> {
  for (let [at, part] = [0, 0]; at < bytes.length; at += PART_BYTES, part++)
    yield {
      type: "content",
      ...of,
      part,
      base64: bytes.toString("base64", at, Math.min(at + PART_BYTES, bytes.length)),
    };
}

const presentAttachment = ({ filename, mime_type, bytes, sha256 }: Attachment) => ({
  filename,
  mime_type,
  bytes,
  sha256,
});
const presentMessage = ({ attachments, ...message }: Message) => ({
  ...message,
  attachments: attachments.map(presentAttachment),
});

/** A thread of a chat, an agent or a run. */
type TurnOwner = Pick<ThreadRow, "id" | "scope" | "agent_id">;

/** Yields a turn with its messages, then the bytes of each attachment that is still stored. */
async function* turnLines({ http, sent }: ExportScope, thread: TurnOwner, turn: ThreadTurn): ExportLines {
  const { turn_id, status, said: output, started_at, ended_at, wrapped_key } = turn;
  const input = await readTurnInput(http, turn);
  const response_id = thread.agent_id === null ? null : `resp_${turn_id}`;
  const messages = input.map(presentMessage);
  yield {
    type: "turn",
    id: turn_id,
    thread_id: thread.id,
    response_id,
    status,
    input: messages,
    output,
    started_at,
    ended_at,
  };
  for (const { blob, sha256, sealed_by } of input.flatMap(({ attachments }) => attachments)) {
    if (sent.has(sha256)) continue;
    const key = sealed_by ?? { thing: streamName("turn", turn_id), wrapped_key };
    const bytes =
      key.wrapped_key === null ? undefined : await http.vault.get({ ...key, wrapped_key: key.wrapped_key }, blob);
    if (!bytes) continue;
    sent.add(sha256);
    yield* contentLines({ turn_id, sha256 }, bytes);
  }
}

/** Yields the turns of a thread, oldest first. */
export async function* allTurnLines(scope: ExportScope, thread: TurnOwner): ExportLines {
  const { http, organization_id, recheck } = scope;
  for (let after = 0; ; ) {
    await recheck();
    const page = { limit: ROWS_PER_QUERY, bytes: PAGE_BYTES, after };
    const turns = await listTurns(http.db, organization_id, thread.id, thread.scope, page);
    for (const turn of turns) yield* turnLines(scope, thread, turn);
    if (turns.length === 0) return;
    after = turns.at(-1)!.position;
  }
}

/** Yields a file, and its bytes unless the export contains equal ones already. */
export async function* fileLines({ http, sent }: ExportScope, file: FileRow, of: object = {}): ExportLines {
  const { id, principal: owner, filename, purpose, mime_type, bytes, sha256, created_at } = file;
  yield { type: "file", id, owner, ...of, filename, purpose, mime_type, bytes, sha256, created_at };
  const content = sent.has(sha256) ? undefined : await readFile(http, file);
  if (!content) return;
  sent.add(sha256);
  yield* contentLines({ file_id: id, sha256 }, content);
}

/** Yields the threads of the subject with their turns, then its files. */
export async function* ownedLines(scope: ExportScope): ExportLines {
  const { http, organization_id, subject } = scope;
  const threads = (page: OwnedPage) =>
    subject.kind === "user"
      ? listThreadsIn(http.db, organization_id, subject.scopes, page)
      : listThreadsOf(http.db, organization_id, subject, page);
  for await (const thread of readRows(scope, threads)) {
    yield { ...presentThread(thread), type: "thread" };
    yield* allTurnLines(scope, thread);
  }
  const files = (page: OwnedPage) =>
    subject.kind === "user"
      ? listFilesIn(http.db, organization_id, subject.scopes, page)
      : listFilesOf(http.db, organization_id, subject, page);
  for await (const file of readRows(scope, files)) yield* fileLines(scope, file);
}

/** Yields the events of the log that the subject caused or that name it. */
export async function* eventLines({ http, organization_id, subject, until, recheck }: ExportScope): ExportLines {
  const matches = createMatcher(subject);
  const toCursor = createCursor(http, organization_id);
  const filter = { limit: EVENTS };
  const pause = createPause();
  for (let [after, more] = [0, true]; more && after < until; ) {
    await recheck();
    const slice = await http.readAuditSlice(organization_id, { ...filter, after });
    for (const event of slice.events) {
      // most events do not match, and each may have a hundred thousand values to compare
      await pause();
      if (event.position <= until && matches(event))
        yield { ...presentEvent(event, toCursor), type: "event", event: event.type };
    }
    after = slice.events.at(-1)?.position ?? until;
    more = slice.more;
  }
}

/** Yields the person's own account. */
export async function* accountLines({ http, organization_id, subject }: ExportScope): ExportLines {
  if (subject.kind === "user" || subject.actor.type !== "person") return;
  const row = await getMember(http.db, organization_id, subject.actor.id);
  if (row) yield { ...presentMember(row), type: "person" };
}
