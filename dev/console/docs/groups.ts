/** A page of the site and its link text. */
interface Entry {
  /** The Markdown file, from the root of the repository. */
  source: string;
  label: string;
  /** One sentence for the start page. */
  about: string;
}

interface Group {
  title: string;
  entries: Entry[];
}

const entry = (source: string, label: string, about: string): Entry => ({ source, label, about });

/** The navigation. If a page of `docs/` is missing here, `test/console/docs.test.ts` fails. Decisions have a list of their own. */
export const GROUPS: readonly Group[] = [
  {
    title: "Start",
    entries: [
      entry(
        "docs/tutorial.md",
        "Tutorial",
        "Ten minutes: an answer with its source, and a refund that a person approved.",
      ),
      entry("README.md", "Overview", "What the platform does, and the shortest way to each part of it."),
    ],
  },
  {
    title: "Guides",
    entries: [
      entry("docs/guides/ask-documents.md", "Ask documents", "From files to answers that say where they come from."),
      entry(
        "docs/guides/build-an-agent.md",
        "Build an agent",
        "A model with instructions, tools, versions and a budget.",
      ),
      entry(
        "docs/tools.md",
        "Write a tool",
        "TypeScript of your own that agents call, without a way out of its sandbox.",
      ),
      entry("docs/workflows.md", "Write a workflow", "Code that waits for days and continues after any crash."),
      entry("docs/developing.md", "Workflows in a repository", "Run, test and save definitions that are files."),
      entry(
        "docs/guides/receive-a-webhook.md",
        "Receive a webhook",
        "An address that starts a run, once for each delivery.",
      ),
      entry("docs/guides/audit-an-answer.md", "Audit an answer", "Why an answer says what it says, and who asked."),
      entry("docs/examples.md", "Examples of workflows", "Whole definitions, from a greeting to a signed webhook."),
      entry("docs/events.md", "Listen to events", "React to what happens, over the bus, without polling."),
      entry("docs/clients.md", "Use your client", "Which SDKs were tried, and the setting to know for each."),
      entry("docs/console.md", "Use the console", "Every screen, every key, and how it is served."),
      entry("docs/operating.md", "Run it in production", "Settings, processes, scaling, sizing, backups, updates."),
      entry(
        "docs/privacy.md",
        "Keep, export and erase",
        "Retention, holds, exports, erasures, and when the last byte is gone.",
      ),
      entry(
        "docs/extending.md",
        "Extend the platform",
        "The files to touch for a tool, an event, an endpoint, a screen.",
      ),
    ],
  },
  {
    title: "Reference",
    entries: [
      entry("docs/permissions.md", "Permissions", "Who may call what: every route and every role."),
      entry("docs/reference/errors.md", "Error codes", "Every code with its status, and what to do about it."),
      entry("docs/reference/events.md", "Event types", "Every event with its fields, and which of them can be erased."),
      entry("docs/documents.md", "Bringing documents in", "Uploads, texts, archives, many at once, and lists."),
      entry("docs/search.md", "Search", "Questions, filters and metadata of documents."),
      entry("docs/reference/settings.md", "Settings", "Every variable of the environment, its default and its values."),
      entry("docs/reference/limits.md", "Limits", "How much fits, how many may be, and the error code beyond it."),
      entry("docs/models.md", "Aliases of models", "Several models under one name, and what happens when one fails."),
      entry(
        "docs/spending.md",
        "Prices and costs",
        "What a request costs, where the price comes from, and who sees it.",
      ),
      entry("docs/alerts.md", "Alerts", "What to watch, from which value on, and what to do then."),
    ],
  },
  {
    title: "Explanations",
    entries: [
      entry("docs/architecture.md", "How it works", "The rooms, the paths of requests, and one word for each concept."),
      entry("docs/reliability.md", "What is promised", "What survives which fault, and how that is tested."),
      entry("docs/benchmarks.md", "How fast it is", "What was measured, and how to measure it again."),
      entry("docs/scaling.md", "Scaling", "What more load needs, and where one log ends."),
    ],
  },
];

/** Pages that are not Markdown of this repository. */
export const API_REFERENCE = {
  group: "Reference",
  href: "reference",
  label: "API",
  about: "Every route with its schemas, errors and examples.",
};
/** The list of all decisions, which the build writes. */
export const DECISIONS = {
  path: "decisions",
  folder: "docs/adr",
  label: "Decisions",
  about: "Why it is built this way: one page for each choice.",
};
