import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter } from "@tanstack/react-router";
import { DOCUMENT_STATUSES, type DocumentStatus } from "../api/knowledge.ts";
import { PAGE_RESULTS } from "../api/sources.ts";
import type { SourcesSearch } from "../screens/knowledge/Sources.tsx";
import { APPROVAL_ORDERS, APPROVAL_STATUSES, RUN_STATUSES, TURN_STATUSES } from "../api/types.ts";
import type { InboxSearch } from "../screens/inbox/search.ts";
import { readKnowledgeSearch, type KnowledgeSearch } from "../screens/knowledge/search.ts";
import type { LogSearch } from "../screens/log/search.ts";
import type { OpenRequestSearch } from "../screens/request/search.ts";
import type { RequestSearch } from "../screens/requests/filter.ts";
import type { RunSearch } from "../screens/runs/filter.ts";
import { accountRoutes } from "./accountRoutes.tsx";
import { buildRoutes } from "./buildRoutes.tsx";
import { lazyScreen } from "./lazyScreen.ts";
import { root } from "./root.ts";
import { ScreenError } from "./ScreenError.tsx";
import { readChoice, readNumber, readText, readTexts } from "./search.ts";

interface CollectionSearch extends KnowledgeSearch {
  status?: DocumentStatus | undefined;
  page?: number | undefined;
}

interface DocumentSearch {
  seq?: number | undefined;
  page?: number | undefined;
  version?: number | undefined;
  /** Only the text, or the text beside the original. */
  view?: "text" | "both" | undefined;
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyScreen(() => import("../screens/home/Home.tsx"), "Home"),
});

interface ChatSearch {
  /** The key of the target that answers. */
  with?: string | undefined;
  /** The first question. It is not sent before the person sends it. */
  ask?: string | undefined;
  /** The last turn of another conversation that a new conversation continues. */
  fork?: string | undefined;
}
const readChatSearch = (search: Record<string, unknown>): ChatSearch => readTexts(search, "with", "ask", "fork");
const chatScreen = lazyScreen(() => import("../screens/chat/Chat.tsx"), "Chat");

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: readChatSearch,
  component: chatScreen,
});

const conversation = createRoute({
  getParentRoute: () => root,
  path: "/chat/$threadId",
  validateSearch: readChatSearch,
  component: chatScreen,
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  validateSearch: ({ status, order, by, page }: Record<string, unknown>): InboxSearch => ({
    status: readChoice(status, APPROVAL_STATUSES),
    by: readText(by),
    order: readChoice(order, APPROVAL_ORDERS),
    page: readNumber(page),
  }),
  component: lazyScreen(() => import("../screens/inbox/Inbox.tsx"), "Inbox"),
});

const approval = createRoute({
  getParentRoute: () => root,
  path: "/inbox/$approvalId",
  component: lazyScreen(() => import("../screens/inbox/ApprovalPage.tsx"), "ApprovalPage"),
});

/** For people without an account: Shell shows it without a session. */
const linkedApproval = createRoute({
  getParentRoute: () => root,
  path: "/approve/$linkId",
  component: lazyScreen(() => import("../screens/linkedApproval/LinkedApprovalPage.tsx"), "LinkedApprovalPage"),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: (search: Record<string, unknown>): RunSearch => ({
    status: readChoice(search["status"], RUN_STATUSES),
    ...readTexts(search, "workflow", "q", "parent", "starter", "who", "from", "to"),
  }),
  component: lazyScreen(() => import("../screens/runs/Runs.tsx"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  validateSearch: ({ step }: Record<string, unknown>): { step?: string } => ({ step: readText(step) }),
  component: lazyScreen(() => import("../screens/run/RunPage.tsx"), "RunPage"),
});

const requests = createRoute({
  getParentRoute: () => root,
  path: "/requests",
  validateSearch: (search: Record<string, unknown>): RequestSearch => ({
    status: readChoice(search["status"], TURN_STATUSES),
    ...readTexts(search, "who", "model", "agent", "thread", "user", "q", "words", "from", "to", "after", "peek"),
  }),
  component: lazyScreen(() => import("../screens/requests/Requests.tsx"), "Requests"),
});

const request = createRoute({
  getParentRoute: () => root,
  path: "/requests/$turnId",
  validateSearch: ({ line, as_of, prompt }: Record<string, unknown>): OpenRequestSearch => ({
    line: readText(line),
    as_of: readText(as_of),
    prompt: readNumber(prompt),
  }),
  component: lazyScreen(() => import("../screens/request/RequestPage.tsx"), "RequestPage"),
});

const knowledge = createRoute({
  getParentRoute: () => root,
  path: "/knowledge",
  validateSearch: readKnowledgeSearch,
  component: lazyScreen(() => import("../screens/knowledge/Knowledge.tsx"), "Knowledge"),
});

const collection = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$collection",
  validateSearch: ({ status, page, ...search }: Record<string, unknown>): CollectionSearch => ({
    ...readKnowledgeSearch(search),
    status: readChoice(status, DOCUMENT_STATUSES),
    page: readNumber(page),
  }),
  component: lazyScreen(() => import("../screens/knowledge/CollectionPage.tsx"), "CollectionPage"),
});

const sources = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$collection/sources",
  validateSearch: ({ source, result, page }: Record<string, unknown>): SourcesSearch => ({
    source: readText(source),
    result: readChoice(result, PAGE_RESULTS),
    page: readNumber(page),
  }),
  component: lazyScreen(() => import("../screens/knowledge/Sources.tsx"), "Sources"),
});

const documentPage = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/documents/$documentId",
  validateSearch: ({ seq, page, version, view }: Record<string, unknown>): DocumentSearch => ({
    seq: readNumber(seq),
    page: readNumber(page),
    version: readNumber(version),
    view: readChoice(view, ["text", "both"]),
  }),
  component: lazyScreen(() => import("../screens/document/DocumentPage.tsx"), "DocumentPage"),
});

const log = createRoute({
  getParentRoute: () => root,
  path: "/log",
  validateSearch: (search: Record<string, unknown>): LogSearch => ({
    ...readTexts(search, "stream", "type", "who", "command"),
    follow: search["follow"] === true || undefined,
    ...readTexts(search, "after", "event", "verify", "expect"),
  }),
  component: lazyScreen(() => import("../screens/log/Log.tsx"), "Log"),
});

const routeTree = root.addChildren([
  home,
  chat,
  conversation,
  inbox,
  approval,
  linkedApproval,
  runs,
  run,
  requests,
  request,
  knowledge,
  collection,
  sources,
  documentPage,
  log,
  ...buildRoutes,
  ...accountRoutes,
]);

export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree,
    basepath: new URL(document.baseURI).pathname.replace(/\/$/, ""),
    context: { queries },
    defaultPreload: "intent",
    defaultErrorComponent: ScreenError,
    // going back returns to the previous scroll position of the list
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
