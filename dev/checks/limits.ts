/* All limits that a client may meet, from which docs/reference/limits.md is generated. Values are read from the code and the settings. */

type Unit = "" | "bytes" | "characters" | "seconds" | "ms" | "days" | "hours" | "megabytes";

export interface Limit {
  what: string;
  /** `file#CONSTANT`, or the name of a setting. */
  from: string;
  unit: Unit;
  /** The error code beyond the limit. NAMES_FIELD: a 400 without a code; null: the value is corrected or cut, as `what` says. */
  code: string | null;
}

/** The error has no code: its `param` names the field. */
export const NAMES_FIELD = "";

const limit = (what: string, from: string, unit: Unit, code: string | null): Limit => ({ what, from, unit, code });

export const LIMITS: Record<string, readonly Limit[]> = {
  Requests: [
    limit("Body of a chat completion", "http/chat/completions.ts#BODY_LIMIT", "bytes", "request_too_large"),
    limit(
      "Items of earlier responses that a request to an agent refers to",
      "http/agents/itemReferences.ts#MAX_REFERENCES",
      "",
      "invalid_input",
    ),
    limit("Body of a request to an agent", "http/agents/routes.ts#BODY_LIMIT", "bytes", "request_too_large"),
    limit("Depth of JSON in a body", "events/jsonLimits.ts#MAX_DEPTH", "", "invalid_json"),
    limit(
      "Bodies and answers of one organization at a time",
      "http/base/bodyBudget.ts#MAX_OWNER_BYTES",
      "bytes",
      "too_many_bytes",
    ),
    limit(
      "Rows of one page of a list; a longer page ends early, and its `limit` says after how many rows",
      "projections/page.ts#MAX_PAGE_BYTES",
      "bytes",
      null,
    ),
    limit(
      "Lines that the steps of a run log together; the rest is not kept",
      "services/workflows/attempt.ts#MAX_STEP_LOGS",
      "characters",
      null,
    ),
    limit(
      "What the open runs of workflows hold in a process, an organization's at most a quarter; further ones wait",
      "RUN_MEMORY_MEGABYTES",
      "megabytes",
      null,
    ),
    limit(
      "Turns before a turn that its trace shows; `turns_not_shown` counts the older ones",
      "http/audit/traceThread.ts#MAX_CONVERSATION_BYTES",
      "bytes",
      null,
    ),
    limit(
      "Open streams of a credential, in one process",
      "http/base/streamLimits.ts#MAX_OF_CREDENTIAL",
      "",
      "too_many_streams",
    ),
    limit(
      "Open streams of an organization, in one process",
      "http/base/streamLimits.ts#MAX_OF_ORGANIZATION",
      "",
      "too_many_streams",
    ),
    limit(
      "Reads of an organization that wait for the end of a run (`?wait`), in one process",
      "http/base/streamLimits.ts#MAX_WAITS",
      "",
      "too_many_streams",
    ),
    limit(
      "Requests of an organization that wait for busy threads, in one process",
      "http/base/send.ts#MAX_BUSY_WAITS",
      "",
      "rate_limited",
    ),
    limit(
      "Requests of an organization that wait for turns, in one process",
      "http/base/streamLimits.ts#MAX_TURN_REQUESTS",
      "",
      "rate_limited",
    ),
    limit(
      "What an organization's open streams of responses repeat of their requests, in one process",
      "http/base/streamLimits.ts#MAX_KEPT_OF_ORGANIZATION",
      "bytes",
      "too_many_bytes",
    ),
    limit(
      "Long answers of an organization that wait to be made, in one process",
      "http/base/longReads.ts#MAX_WAITING_READS",
      "",
      "rate_limited",
    ),
    limit("Rows of a page; more are cut to it", "http/base/pagination.ts#MAX_LIMIT", "", null),
    limit(
      "Rows of a page of threads, files and responses; more are cut to it",
      "http/owned/page.ts#MAX_LIMIT",
      "",
      null,
    ),
  ],
  "Signing in": [
    limit(
      "Failed sign-ins to one account from one address",
      "http/auth/throttle.ts#MAX_PER_ACCOUNT",
      "",
      "too_many_attempts",
    ),
    limit("Failed sign-ins from one address", "http/auth/throttle.ts#MAX_PER_ADDRESS", "", "too_many_attempts"),
    limit(
      "Sessions of a person; one more ends the one that was unused for the longest time",
      "http/account/endUnusedSessions.ts#MAX_SESSIONS",
      "",
      null,
    ),
    limit("Life of a session", "http/account/sessions.ts#MAX_SESSION_MS", "ms", "invalid_session"),
  ],
  "Models and agents": [
    limit("Attachments of a request", "http/turns/attachment.ts#MAX_ATTACHMENTS", "", "too_many_attachments"),
    limit("One attachment, decoded", "http/turns/attachment.ts#MAX_ATTACHMENT_BYTES", "bytes", "attachment_too_large"),
    limit("Labels of a request (`x-labels`)", "events/labels.ts#MAX_LABELS", "", null),
    limit("Tools that a client brings", "http/turns/clientTools.ts#MAX_TOOLS", "", "invalid_tools"),
    limit("Their descriptions and schemas, as JSON", "http/turns/clientTools.ts#MAX_BYTES", "bytes", "invalid_tools"),
    limit(
      "The format that a chat completion asks for (`response_format`), as JSON",
      "http/chat/responseFormat.ts#MAX_CHARACTERS",
      "characters",
      "invalid_response_format",
    ),
    limit("Rounds of tool calls; the last answer is then taken", "services/turns/converse.ts#MAX_ROUNDS", "", null),
    limit(
      "Arguments of a model's call of a tool; the model reads why a longer one failed",
      "services/turns/tools/parseArguments.ts#MAX_LENGTH",
      "characters",
      null,
    ),
    limit(
      "Brackets, commas and texts in them, where each name counts eight more; the model reads why more failed",
      "services/turns/tools/parseArguments.ts#MAX_TOKENS",
      "",
      null,
    ),
    limit(
      "What downloads of steps and `web_fetch` hold of one organization in a process; a call without room fails",
      "services/turns/tools/downloadMemory.ts#MAX_OF_ORGANIZATION",
      "bytes",
      null,
    ),
    limit(
      "Instructions of an agent, as JSON",
      "http/account/agentShape.ts#MAX_INSTRUCTIONS_BYTES",
      "bytes",
      NAMES_FIELD,
    ),
    limit("Time of a turn; a streamed one has six times as long, an agent's 7 days", "TURN_SECONDS", "seconds", null),
    limit("What one thread may store", "THREAD_MEGABYTES", "megabytes", "thread_too_large"),
    limit("Time for an approval of a tool call, where the agent does not say", "TOOL_APPROVAL_HOURS", "hours", null),
    limit("Providers of an organization", "http/base/countLimits.ts#MAX_PROVIDERS", "", "too_many_providers"),
    limit(
      "Models whose prices an organization sets",
      "http/base/countLimits.ts#MAX_PRICED_MODELS",
      "",
      "too_many_prices",
    ),
    limit("Models that are read of one provider's list", "infra/models/modelList.ts#MAX_MODELS", "", null),
    limit("Models that one list shows; the others can still be used", "infra/models/catalog.ts#MAX_SHOWN", "", null),
    limit("Agents of an organization", "http/base/countLimits.ts#MAX_AGENTS", "", "too_many_agents"),
    limit("Aliases of an organization", "services/deciders/alias.ts#MAX_ALIASES", "", "too_many_aliases"),
    limit("Budgets of an organization", "http/account/budgets.ts#MAX_BUDGETS", "", "too_many_budgets"),
  ],
  "Files and knowledge": [
    limit("One file", "http/upload/multipartForm.ts#MAX_FILE_BYTES", "bytes", "file_too_large"),
    limit("Files of one request", "http/knowledge/batch/batchShape.ts#MAX_ENTRIES", "", "too_many_files"),
    limit(
      "All files of one request",
      "http/knowledge/batch/batchShape.ts#MAX_FORM_BYTES",
      "bytes",
      "request_too_large",
    ),
    limit(
      "Requests with many files at a time, of an organization",
      "http/knowledge/batch/batch.ts#MAX_AT_ONCE",
      "",
      "rate_limited",
    ),
    limit(
      "What an archive unpacks to",
      "http/upload/archive/unpackArchive.ts#MAX_UNPACKED_BYTES",
      "bytes",
      "archive_too_large",
    ),
    limit(
      "A pushed text with its fields",
      "http/knowledge/collectionDocuments.ts#MAX_PUSH_BYTES",
      "bytes",
      "request_too_large",
    ),
    limit("Tags of a document", "events/documentInput.ts#MAX_TAGS", "", NAMES_FIELD),
    limit("Own fields of a document", "events/documentInput.ts#MAX_METADATA_KEYS", "", NAMES_FIELD),
    limit("Readers of a document", "http/upload/readers.ts#MAX_READERS", "", NAMES_FIELD),
    limit("Passages of one search; more are cut to it", "http/knowledge/searchShape.ts#MAX_LIMIT", "", null),
    limit("Collections of an organization", "http/base/limits.ts#MAX_COLLECTIONS", "", "too_many_collections"),
    limit("Sources of an organization", "http/base/countLimits.ts#MAX_SOURCES", "", "too_many_sources"),
    limit("What an organization may store", "ORGANIZATION_MEGABYTES", "megabytes", "storage_limit_reached"),
    limit(
      "Files of an organization that wait to be read",
      "http/base/storageLimits.ts#MAX_UNREAD",
      "",
      "too_many_unread_files",
    ),
    limit(
      "What the events of an organization may take",
      "ORGANIZATION_LOG_MEGABYTES",
      "megabytes",
      "storage_limit_reached",
    ),
    limit(
      "Languages of an organization's text recognition",
      "events/ocrLanguages.ts#MAX_OCR_LANGUAGES",
      "",
      NAMES_FIELD,
    ),
    limit("Pages that are recognized in a day; warnings name the others", "OCR_PAGES_PER_DAY", "", null),
  ],
  Workflows: [
    limit("Source of a definition", "http/account/definitionShape.ts#MAX_SOURCE", "characters", NAMES_FIELD),
    limit("Definitions of an organization", "http/base/countLimits.ts#MAX_DEFINITIONS", "", "too_many_definitions"),
    limit(
      "Versions of a definition, and of an agent",
      "services/deciders/versions.ts#MAX_VERSIONS",
      "",
      "too_many_versions",
    ),
    limit("Secrets of an organization", "http/base/countLimits.ts#MAX_SECRETS", "", "too_many_secrets"),
    limit(
      "Enabled workflows of an organization",
      "http/base/countLimits.ts#MAX_ENABLED_WORKFLOWS",
      "",
      "too_many_workflows",
    ),
    limit(
      "Workflows of an organization, with the disabled ones",
      "http/base/countLimits.ts#MAX_WORKFLOWS",
      "",
      "too_many_workflows",
    ),
    limit("Enabled triggers of a workflow", "http/workflows/triggers.ts#MAX_TRIGGERS", "", "too_many_triggers"),
    limit(
      "Triggers of a workflow, with the disabled ones",
      "http/workflows/triggers.ts#MAX_ALL_TRIGGERS",
      "",
      "too_many_triggers",
    ),
    limit(
      "Default arguments of a webhook, as JSON",
      "http/workflows/triggerShape.ts#MAX_DEFAULT_ARGS_BYTES",
      "bytes",
      "invalid_default_args",
    ),
    limit(
      "Age of a signed delivery",
      "http/workflows/hookSignature.ts#MAX_AGE_S",
      "seconds",
      "invalid_webhook_signature",
    ),
    limit("Schedules of an organization", "ORGANIZATION_SCHEDULES", "", "too_many_schedules"),
    limit("Shortest time between two runs of a schedule", "SCHEDULE_SECONDS", "seconds", "invalid_schedule"),
    limit("Data of an event, as JSON", "http/workflows/postMessage.ts#MAX_DATA_BYTES", "bytes", "payload_too_large"),
    limit(
      "Timers, approvals, runs, agents and events that a run waits for; more fail it (`too_many_waits`)",
      "services/deciders/runLinks.ts#MAX_WAITS",
      "",
      null,
    ),
    limit("Runs that wait for one run", "services/deciders/runLinks.ts#MAX_WATCHERS", "", "too_many_watchers"),
    limit(
      "Runs that one request retries or cancels; the answer says how many remain",
      "http/workflows/changeMany.ts#MAX_RUNS",
      "",
      null,
    ),
    limit(
      "Wait of a request for the end of a run; longer ones are cut to it",
      "http/workflows/waitForEnd.ts#MAX_WAIT_S",
      "seconds",
      null,
    ),
    limit("Data of a decision, as JSON", "http/workflows/decideApproval.ts#MAX_DATA_BYTES", "bytes", "invalid_data"),
    limit("Links to an approval", "services/deciders/runApprovals.ts#MAX_LINKS", "", "too_many_approval_links"),
    limit(
      "Times that an approval is handed on",
      "services/deciders/approvalPeople.ts#MAX_DELEGATIONS",
      "",
      "too_many_delegations",
    ),
    limit("Comments on an approval", "services/deciders/approvalPeople.ts#MAX_COMMENTS", "", "too_many_comments"),
    limit(
      "Files that people hand to a run, at its start, with decisions and with comments",
      "events/runOrigin.ts#MAX_RUN_FILES",
      "",
      "too_many_run_files",
    ),
  ],
  "The organization": [
    limit("Members", "services/deciders/members.ts#MAX_MEMBERS", "", "too_many_members"),
    limit("API keys", "http/base/countLimits.ts#MAX_KEYS", "", "too_many_keys"),
    limit("Projects", "http/base/countLimits.ts#MAX_PROJECTS", "", "too_many_projects"),
    limit("Groups", "services/deciders/group.ts#MAX_GROUPS", "", "too_many_groups"),
    limit("People of a group", "http/account/groups.ts#MAX_MEMBERS", "", "invalid_members"),
    limit("Erasures that run", "http/base/countLimits.ts#MAX_ERASURES", "", "too_many_erasures"),
    limit("Holds that stand", "services/deciders/hold.ts#MAX_HOLDS", "", "too_many_holds"),
    limit(
      "Subjects with retention rules",
      "http/base/countLimits.ts#MAX_RETENTION_RULES",
      "",
      "too_many_retention_rules",
    ),
    limit("Days of a retention rule", "http/owned/retentionShape.ts#MAX_DAYS", "days", NAMES_FIELD),
    limit(
      "Events that one request checks; the answer says where to go on",
      "http/audit/eventCheck.ts#MAX_EVENTS",
      "",
      null,
    ),
    limit("Rows of one CSV of usage; more are left out", "http/audit/usageCsv.ts#MAX_CSV_ROWS", "", null),
  ],
};

/** Codes of limits that people configure per key, workflow or budget. They are documented in docs/spending.md and docs/workflows.md. */
export const CONFIGURED_LIMIT_CODES = ["budget_exceeded", "rate_limited", "too_many_live_runs", "start_rate_limited"];
/** Codes of limits of Node's HTTP parser. */
export const PARSER_LIMIT_CODES = ["headers_too_large"];
