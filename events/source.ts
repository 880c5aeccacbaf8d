import { z } from "zod";
import { streamName } from "./ids.ts";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { NewRule, ScheduleRule } from "./schedule.ts";

/* A source is an address on the web whose pages are documents of a collection (ADR 59). */

/** One page, or all pages that a sitemap lists. */
export const SOURCE_KINDS = ["url", "sitemap"] as const;
/** What happens to the document of a page that no longer exists. */
export const GONE_RULES = ["delete", "keep"] as const;
/** The result of reading a page. `gone`: its document is kept; `removed`: it was deleted. */
export const PAGE_RESULTS = ["new", "changed", "same", "failed", "gone", "removed"] as const;
export type PageResult = (typeof PAGE_RESULTS)[number];

const Id = z.object({ source_id: z.uuid() });
const Rules = z.object({ max_pages: z.int().positive(), when_gone: z.enum(GONE_RULES) });
const Settings = Rules.extend({
  /** Null: it is read only when somebody asks for it. */
  rule: ScheduleRule.nullable(),
});
export type SourceSettings = z.infer<typeof Settings>;
const Next = z.object({
  /** When the schedule reads it next; null: never. */
  next: z.iso.datetime().nullable(),
});
const Place = Id.extend({ collection_id: z.uuid(), kind: z.enum(SOURCE_KINDS) });
/** Patterns of paths, as in robots.txt. */
const Filter = z.object({ include: z.array(z.string()), exclude: z.array(z.string()) });
const Address = z.object({ url: z.string() });
/** Reads count from 1; `attempt` fences off workers that were replaced. */
const Read = Id.extend({ read: z.int().positive() });
const Work = Read.extend({ attempt: z.int().positive() });
const Holder = z.object({ worker: z.string().nullable() });

/** The changes of a page. Omitted fields keep their value. */
const Page = z.object({
  /** Short hash of its address. */
  page: z.string(),
  /** Present if the source sees this page for the first time. */
  first: z.literal(true).optional(),
  result: z.enum(PAGE_RESULTS),
  document_id: z.uuid().optional(),
  /** Keyed hash of its bytes, to detect unchanged content. */
  content_claim: z.string().optional(),
});
const PageText = z.object({
  url: z.string().optional(),
  /** The server's cache validators for the page's newest content. */
  etag: z.string().nullable().optional(),
  last_modified: z.string().nullable().optional(),
  /** Why the read failed. */
  error: z.string().optional(),
});
const Pages = Read.extend({ pages: z.array(Page) });
/** One entry for each of the pages, in the same order. */
const PageTexts = z.object({ pages: z.array(PageText) });
export type PageChange = z.infer<typeof Page> & z.infer<typeof PageText>;
const Failure = z.object({
  /** Why not all pages could be read; null if they were. */
  error: z.string().nullable(),
});

export const CreateSource = defineCommand(
  "CreateSource",
  "source",
  Place.extend(Rules.shape).extend(Filter.shape).extend(Address.shape).extend({ rule: NewRule.nullable() }),
);
/** Fields left out keep their value. */
export const ChangeSource = defineCommand(
  "ChangeSource",
  "source",
  Id.extend(Rules.extend(Filter.shape).extend({ rule: NewRule.nullable(), paused: z.boolean() }).partial().shape),
);
/** Reads the source now. `due_at`: set if its schedule reads it; has no effect if that is not its next due time. */
export const ReadSource = defineCommand("ReadSource", "source", Id.extend({ due_at: z.iso.datetime().optional() }));
/** Gives the read of a lost process to another one. */
export const TakeSourceRead = defineCommand("TakeSourceRead", "source", Work.extend({ worker: z.string() }));
export const RecordListing = defineCommand("RecordListing", "source", Work.extend({ listed: z.int().nonnegative() }));
export const RecordPages = defineCommand(
  "RecordPages",
  "source",
  Work.extend({ pages: z.array(Page.extend(PageText.shape)) }),
);
export const EndSourceRead = defineCommand("EndSourceRead", "source", Work.extend(Failure.shape));
export const DeleteSource = defineCommand("DeleteSource", "source", Id.extend({ documents: z.boolean() }));
/** Records that every document of a deleted source is deleted. */
export const EmptySource = defineCommand("EmptySource", "source", Id);

const thing = (data: { source_id: string }) => streamName("source", data.source_id);
/** Its first read begins at once. */
export const SourceCreated = defineEvent("SourceCreated", {
  public: Place.extend(Settings.shape).extend(Next.shape).extend(Holder.shape),
  personal: Address.extend(Filter.shape),
  thing,
  opens: true,
});
/** Holds all settings, not only the changed ones. */
export const SourceChanged = defineEvent("SourceChanged", {
  public: Id.extend(Settings.shape).extend(Next.shape),
  personal: Filter.partial(),
  thing,
});
/** Also ends the read under way. */
export const SourcePaused = defineEvent("SourcePaused", { public: Id });
export const SourceResumed = defineEvent("SourceResumed", { public: Id.extend(Next.shape) });
export const SourceReadStarted = defineEvent("SourceReadStarted", {
  public: Read.extend(Next.shape).extend(Holder.shape),
});
export const SourceReadTaken = defineEvent("SourceReadTaken", { public: Work.extend(Holder.shape) });
/** How many pages the read will visit. */
export const SourceListed = defineEvent("SourceListed", { public: Read.extend({ listed: z.int().nonnegative() }) });
export const SourcePagesRead = defineEvent("SourcePagesRead", { public: Pages, personal: PageTexts, thing });
export const SourceReadEnded = defineEvent("SourceReadEnded", { public: Read, personal: Failure, thing });
export const SourceDeleted = defineEvent("SourceDeleted", {
  /** Whether the source's documents are deleted as well. */
  public: Id.extend({ documents: z.boolean() }),
});
export const SourceEmptied = defineEvent("SourceEmptied", { public: Id });

export type SourceCommand = CommandsIn<typeof import("./source.ts")>;
export type SourceEvent = EventsIn<typeof import("./source.ts")>;
