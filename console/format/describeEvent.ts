import { formatBytes, formatCount, formatDuration, shortId } from "./index.ts";

/* Describes an event of the log in one sentence. */

/** The fields of an event; personal ones are null once they are deleted. */
export interface EventFields {
  type: string;
  data: Record<string, unknown>;
  personal: Record<string, unknown> | null;
}

/** A field of either kind as text, or a placeholder if it is deleted or absent. */
type Field = (name: string, otherwise?: string) => string;
type Sentence = string | ((field: Field, fields: Record<string, unknown>) => string);

/** Maximum length of a value: a sentence must fit into a row of a table. */
const MAX_LENGTH = 120;

const clip = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
const quoted = (text: string): string => (text === "" ? "" : ` “${text}”`);
const count = (value: unknown, one: string): string =>
  typeof value === "number" ? formatCount(value, one) : `no ${one}`;

/** `organization` or `key:<id>`, as words. */
const spender = (field: Field): string => `the ${field("subject").replace(":", " ").replace("@", " for ")}`;

const ACCOUNTS: Record<string, Sentence> = {
  ScriptedToolsSwitched: (_, { enabled }) =>
    `The organization's own tools were switched ${enabled === true ? "on" : "off"}.`,
  OcrLanguagesSet: (_, { languages }) =>
    Array.isArray(languages)
      ? `Text recognition looks for the languages ${languages.join(", ")}.`
      : "Text recognition looks for the languages of the deployment.",
  OrganizationCreated: (field) => `The organization${quoted(field("name"))} was created.`,
  UserRegistered: (field) => `${field("name", "Somebody")} joined as ${field("role")}.`,
  UserChanged: (field, { active }) =>
    `${field("name", "A member")} was changed: ${field("role")}, ${active === false ? "locked out" : "active"}.`,
  UserRemoved: (_, { user_id }) => `The member ${shortId(String(user_id))} was removed.`,
  SubstituteNamed: "A member named a substitute, who decides approvals in their place for a time.",
  SubstituteWithdrawn: "A member has no substitute any more.",
  PasswordSet: "A member got a new password; earlier sessions ended.",
  SessionStarted: "Somebody signed in.",
  SessionEnded: "A session ended.",
  ProjectCreated: (field) => `The project${quoted(field("name"))} was created.`,
  ProjectChanged: (field) => `The project${quoted(field("name"))} was renamed.`,
  ProjectDeleted: "A project was deleted.",
  KeyCreated: (field) => `The API key${quoted(field("name"))} that ends with ${field("key_hint")} was created.`,
  KeyChanged: (field, { enabled }) =>
    `The API key${quoted(field("name"))} was changed; it is ${enabled === false ? "disabled" : "enabled"}.`,
  KeyRotated: (field) => `An API key got a new secret, which ends with ${field("key_hint")}.`,
  KeyDeleted: "An API key was deleted.",
  ProviderConfigured: (field) => `The provider${quoted(field("name"))} got its credential and settings.`,
  GroupConfigured: (field) => `The group${quoted(field("group"))} got its members.`,
  GroupRemoved: (field) => `The group${quoted(field("group"))} was removed.`,
  AliasConfigured: (field) => `The alias${quoted(field("alias"))} got its targets.`,
  AliasRemoved: (field) => `The alias${quoted(field("alias"))} was removed.`,
  PricesSet: (field) => `The model ${field("model")} got its prices.`,
  PricesRemoved: (field) => `The prices of the model ${field("model")} were removed.`,
  BudgetSet: (field, { hard }) =>
    `The budget of ${spender(field)} was set; at its limits, ${hard === true ? "requests that would pass them are refused" : "answers carry a warning"}.`,
  BudgetRemoved: (field) => `The budget of ${spender(field)} was removed.`,
  BudgetReached: (field) =>
    `${field("percent")} % of the limit ${field("limit")} of ${spender(field)} are spent: ${field("spent")} of ${field("at_most")}.`,
  ProviderRemoved: (field) => `The provider${quoted(field("name"))} was removed.`,
  SecretSet: (field) => `The secret${quoted(field("name"))} got a value.`,
  SecretRemoved: (field) => `The secret${quoted(field("name"))} was removed.`,
  AgentCreated: (field) => `The agent${quoted(field("name"))} was created.`,
  AgentChanged: (field) => `The agent${quoted(field("name"))} was changed; this is version ${field("version")}.`,
  AgentDeleted: "An agent was deleted.",
  AgentTurnsEnded: "No answer of a deleted agent waits for a person any more.",
  ClaimHeld: "A unique name was taken.",
  ClaimReleased: "A unique name became free.",
};

const THREADS: Record<string, Sentence> = {
  TurnStarted: (field) => `${field("model")} was asked.`,
  TurnTakenOver: (field) => `Another process continued the answer: attempt ${field("attempt")}.`,
  RoundRequested: (_, { calls }) =>
    `The model asked for ${Array.isArray(calls) ? formatCount(calls.length, "tool call") : "tools"}.`,
  ToolFinished: (field, { duration_ms }) =>
    `The tool ${field("name", "that the model named")} ${field("status")} after ${formatDuration(Number(duration_ms))}.`,
  ToolApprovalRequested: (field) => `The agent asks whether it may run the tool ${field("tool")}.`,
  ToolApprovalDecided: (field) => `Somebody decided about a tool call: ${field("decision")}.`,
  ToolApprovalExpired: "Nobody decided about a tool call in time; it does not run.",
  ToolApprovalCancelled: "The question about a tool call was withdrawn with its answer.",
  TurnParked: "The answer waits for a person, and no process holds it.",
  TurnResumed: (field) => `The answer goes on: attempt ${field("attempt")}.`,
  ToolStarted: "An approved tool call began.",
  TurnCompleted: (field) => `${field("model")} answered (${field("finish_reason")}).`,
  TurnFailed: (field) => `The answer failed: ${field("message", "the reason is deleted")}`,
  TurnStopped: "The answer was stopped; what was there is kept.",
  TargetFailed: (field) => `The model${quoted(field("target"))} did not answer (${field("reason", "no reason")}).`,
  TurnRefused: (field) => `The provider refused the request (${field("code", "no code")}).`,
  TurnDeleted: "A question and its answer were deleted.",
  ThreadDeleted: "A conversation was deleted with everything that was said.",
  FileUploaded: (field, { bytes }) =>
    `The file${quoted(field("filename"))} was uploaded (${formatBytes(Number(bytes))}).`,
  FileDeleted: "A file was deleted.",
  ErasureStarted: (field) => `The deletion of all that ${field("owner")} has was requested.`,
  ErasureAdvanced: (_, { threads, files, runs = 0, documents = 0, extractions = 0 }) =>
    `The deletion goes on: ${count(threads, "conversation")}, ${count(files, "file")}, ${count(runs, "run")}, ${count(documents, "document")} and ${count(extractions, "extraction")} so far.`,
  ErasureCompleted: "The deletion of all that somebody had is complete.",
  RetentionSet: (field) => `How long things of ${field("subject")} are kept was set.`,
  RetentionRemoved: (field) => `Things of ${field("subject")} are kept until somebody deletes them.`,
  RetentionAdvanced: (_, { deleted }) => {
    const { threads, files, documents, runs = 0 } = Object(deleted);
    return `Old things were deleted: ${count(threads, "conversation")}, ${count(files, "file")}, ${count(documents, "document")} and ${count(runs, "run")} so far.`;
  },
  HoldPlaced: (field) =>
    `The hold${quoted(field("name"))} keeps what belongs to the ${field("subject").replace(":", " ")}.`,
  HoldReleased: "A hold was released.",
  RunKept: "A hold keeps the run; its deletion is tried again in an hour.",
  RetentionRoundEnded: "Nothing is older than the retention rules allow.",
};

const KNOWLEDGE: Record<string, Sentence> = {
  CollectionCreated: (field) => `The collection${quoted(field("name"))} was created.`,
  CollectionChanged: (field) => `The collection${quoted(field("name"))} was changed.`,
  CollectionDeleted: "A collection was deleted.",
  CollectionEmptied: "The documents of a deleted collection were deleted.",
  SourceCreated: (field) => `The source${quoted(field("url"))} was created.`,
  SourceChanged: "A source was changed.",
  SourcePaused: "A source was paused.",
  SourceResumed: "A source was resumed.",
  SourceReadStarted: (field) => `Read ${field("read")} of a source began.`,
  SourceReadTaken: (field) => `Another process went on with read ${field("read")} of a source.`,
  SourceListed: (field, { listed }) => `Read ${field("read")} of a source found ${count(listed, "page")}.`,
  SourcePagesRead: (field, { pages }) =>
    `Read ${field("read")} of a source visited ${count((pages as unknown[]).length, "page")}.`,
  SourceReadEnded: (field) => `Read ${field("read")} of a source ended. ${field("error", "")}`.trim(),
  SourceDeleted: (_, { documents }) => `A source was deleted${documents === true ? " with its documents" : ""}.`,
  SourceEmptied: "The documents of a deleted source were deleted.",
  DocumentUploaded: (field, { size_bytes }) =>
    `The document${quoted(field("name"))} was uploaded (${formatBytes(Number(size_bytes))}).`,
  DocumentReplaced: (field) => `The document${quoted(field("name"))} was replaced by new content.`,
  DocumentChanged: (field) => `The document${quoted(field("name"))} was renamed or tagged.`,
  DocumentReprocessed: "A document is indexed again.",
  DocumentDeleted: "A document was deleted with its passages.",
  ReadingStarted: (field) => `A process began to read the document (attempt ${field("attempt")}).`,
  DocumentRead: (_, { page_count, chunk_count }) =>
    `The document was read: ${page_count === null ? "" : `${count(page_count, "page")}, `}${count(chunk_count, "passage")}.`,
  ReadingFailed: (field) => `The document could not be read: ${field("error", "the reason is deleted")}`,
  DocumentIndexed: "Search finds the document.",
  PassagesEmbedded: "Vectors of passages were made.",
  IndexingFailed: (field) => `The document could not be indexed: ${field("error", "the reason is deleted")}`,
  ExtractionRequested: (field) => `The text of${quoted(field("name", "a file"))} was asked for.`,
  ExtractionStarted: "A process began to read the file.",
  ExtractionCompleted: (_, { characters }) => `The text was extracted: ${count(characters, "character")}.`,
  ExtractionFailed: (field) => `The file could not be read: ${field("error", "the reason is deleted")}`,
  ExtractionDeleted: "An extracted text was deleted.",
  ExtractionExpired: "An extracted text was deleted after its time.",
};

const WORKFLOWS: Record<string, Sentence> = {
  DefinitionCreated: (field) => `The ${field("type")} definition${quoted(field("name"))} was saved for the first time.`,
  DefinitionSaved: (field) =>
    `The ${field("type")} definition${quoted(field("name"))} was saved as version ${field("version")}.`,
  DefinitionDeleted: "A definition was deleted.",
  WorkflowRegistered: (field) => `The workflow${quoted(field("name"))} was registered.`,
  WorkflowChanged: (field, { enabled }) =>
    `The workflow${quoted(field("name"))} was changed; it is ${enabled === false ? "disabled" : "enabled"}.`,
  TriggerCreated: (field) => `The trigger${quoted(field("name"))} was created.`,
  TriggerRotated: "A trigger got a new secret.",
  TriggerDisabled: "A trigger was disabled.",
  TriggerDeleted: "A trigger was deleted.",
  ScheduleCreated: (field) => `The schedule${quoted(field("name"))} was created.`,
  ScheduleChanged: "A schedule was changed.",
  SchedulePaused: "A schedule was paused.",
  ScheduleResumed: "A schedule was resumed.",
  ScheduleFired: (field) => `A schedule was due at ${field("due_at")}: ${field("action")}.`,
  ScheduleTimesMissed: (field) => `Due times of a schedule were missed, from ${field("first_due_at")} on.`,
  ScheduleDequeued: (field) => `The start that was due at ${field("due_at")} waited, and is next.`,
  ScheduleTaken: "A process took over the starts of a schedule.",
  ScheduledRunStarted: (field) => `The run that was due at ${field("due_at")} was started.`,
  ScheduledRunRefused: (field) => `The run that was due at ${field("due_at")} was refused (${field("code")}).`,
  SigningSecretSet: "A trigger got the secret with which its sender signs.",
  RunCreated: "A run was created.",
  RunStarted: "The run started.",
  RunTaken: (field) => `A process took the run (${field("reason")}).`,
  RunParked: "The run waits, and no process holds it.",
  RunLogged: (_, { logs }) =>
    `The workflow wrote ${Array.isArray(logs) ? formatCount(logs.length, "line") : "lines"} to its log.`,
  RunWarned: (field) => `The run was warned: ${field("message", field("code"))}`,
  RunCompleted: "The run completed.",
  RunFailed: (field) => `The run failed: ${field("error", field("code"))}`,
  RunCancelled: "The run was cancelled.",
  RunContinued: "The run ended, and another one continues it.",
  RunForgotten: "The run was deleted after its time.",
  StepsScheduled: (_, { steps }) =>
    `${Array.isArray(steps) ? formatCount(steps.length, "step") : "Steps"} ${Array.isArray(steps) && steps.length === 1 ? "was" : "were"} scheduled.`,
  StepStarted: (field) => `The step ${field("name")} started (attempt ${field("attempt")}).`,
  StepCompleted: (field, { duration_ms }) =>
    `The step ${field("name")} completed after ${formatDuration(Number(duration_ms))}.`,
  StepAttemptFailed: (field) =>
    `Attempt ${field("attempt")} of the step ${field("name")} failed and is tried again: ${field("error", field("code"))}`,
  StepAttemptLost: (field) => `Attempt ${field("attempt")} of the step ${field("name")} was lost with its process.`,
  StepFailed: (field) => `The step ${field("name")} failed: ${field("error", field("code"))}`,
  ApprovalRequested: (field) => `The run asks${quoted(field("title"))} and waits.`,
  ApprovalVoted: (field) => `Somebody voted: ${field("decision")}.`,
  ApprovalDecided: (field) => `Somebody decided: ${field("decision")}.`,
  ApprovalReminded: "A question waits for long; people were reminded.",
  ApprovalEscalated: "A question waits for long; further people may decide.",
  ApprovalLinkCreated: "A link was made, by which somebody without an account may decide.",
  ApprovalLinkRevoked: "A link to a question was revoked.",
  ApprovalDelegated: (field) => `Somebody handed a question on to somebody else:${quoted(field("reason"))}.`,
  ApprovalCommented: (field) => `Somebody commented on a question:${quoted(field("text"))}.`,
  ApprovalExpired: "Nobody decided in time.",
  ApprovalCancelled: "The question was withdrawn with its run.",
  ChildRunRequested: (field) => `The run starts a run of the workflow${quoted(field("workflow"))}.`,
  ChildRunStarted: "A child run was started.",
  AgentTurnRequested: (field) => `The run asks the agent${quoted(field("agent"))}.`,
  AgentTurnStarted: "The agent began to answer the run.",
  AgentTurnPending: "The answer that the run waits for goes on.",
  RunWaitStarted: "The run waits for the end of another run.",
  MessageWaitStarted: (field) => `The run waits for the event${quoted(field("name"))}.`,
  MessagePosted: (field) => `The event${quoted(field("name"))} was sent to the runs that wait for it.`,
  MessageDelivered: (_, { reached }) => `The event reached ${count(reached, "run")}.`,
  RunWaitRegistered: "This run will receive the end of the other one.",
  WaitAnswered: "The wait was answered.",
  WaitTimedOut: "The wait took too long.",
  RunWatched: "Another run waits for the end of this one.",
  RunSettled: "The runs that wait for this one received its end, and its child runs were cancelled.",
  TimerStarted: (field) => `The run waits until ${field("fires_at")}.`,
  TimerFired: "The wait is over.",
  ValueNoted: "The run noted a value, such as the time or a random number.",
};

const SENTENCES: Record<string, Sentence> = { ...ACCOUNTS, ...THREADS, ...KNOWLEDGE, ...WORKFLOWS };

/** Errors of runs are objects with a message. */
const messageOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "message" in value ? value.message : value;

/** Every type with a sentence, in alphabetical order. */
export const EVENT_TYPES = Object.keys(SENTENCES).toSorted();

export function describeEvent({ type, data, personal }: EventFields): string {
  const sentence = SENTENCES[type];
  if (sentence === undefined || typeof sentence === "string") return sentence ?? type;
  const fields = { ...data, ...personal };
  const field: Field = (name, otherwise = "") => {
    const value = messageOf(fields[name]);
    return typeof value === "string" || typeof value === "number" ? clip(String(value)) : otherwise;
  };
  return sentence(field, fields);
}
