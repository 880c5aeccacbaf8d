import { createRoute } from "@tanstack/react-router";
import { EXTRACTION_STATUSES, type ExtractionStatus } from "../api/extractions.ts";
import { lazyScreen } from "./lazyScreen.ts";
import { root } from "./root.ts";
import { readChoice, readNumber, readText } from "./search.ts";

/* The screens for builders: agents, tools, workflows and triggers. */

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: ({ q }: Record<string, unknown>): { q?: string | undefined } => ({ q: readText(q) }),
  component: lazyScreen(() => import("../screens/agents/Agents.tsx"), "Agents"),
});

const newAgent = createRoute({
  getParentRoute: () => root,
  path: "/agents/new",
  component: lazyScreen(() => import("../screens/agents/NewAgent.tsx"), "NewAgent"),
});

const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$agentId",
  validateSearch: ({
    view,
    version,
  }: Record<string, unknown>): { view?: "versions" | undefined; version?: number | undefined } => ({
    view: readChoice(view, ["versions"]),
    version: readNumber(version),
  }),
  component: lazyScreen(() => import("../screens/agents/AgentPage.tsx"), "AgentPage"),
});

const tools = createRoute({
  getParentRoute: () => root,
  path: "/tools",
  component: lazyScreen(() => import("../screens/tools/Tools.tsx"), "Tools"),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows",
  component: lazyScreen(() => import("../screens/workflows/Workflows.tsx"), "Workflows"),
});

const workflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$workflowId",
  component: lazyScreen(() => import("../screens/workflows/WorkflowPage.tsx"), "WorkflowPage"),
});

const newDefinition = createRoute({
  getParentRoute: () => root,
  path: "/definitions/new",
  validateSearch: ({ type }: Record<string, unknown>): { type?: "tool" | "workflow" | undefined } => ({
    type: readChoice(type, ["tool", "workflow"]),
  }),
  component: lazyScreen(() => import("../screens/definition/NewDefinition.tsx"), "NewDefinition"),
});

interface DefinitionSearch {
  /** The line of the source to show first. */
  line?: number | undefined;
  view?: "versions" | undefined;
  version?: number | undefined;
  /** The version to compare with. */
  against?: number | undefined;
}

const definition = createRoute({
  getParentRoute: () => root,
  path: "/definitions/$definitionId",
  validateSearch: ({ view, version, against, line }: Record<string, unknown>): DefinitionSearch => ({
    view: readChoice(view, ["versions"]),
    version: readNumber(version),
    against: readNumber(against),
    line: readNumber(line),
  }),
  component: lazyScreen(() => import("../screens/definition/DefinitionPage.tsx"), "DefinitionPage"),
});

const schedules = createRoute({
  getParentRoute: () => root,
  path: "/schedules",
  validateSearch: ({ workflow: chosen }: Record<string, unknown>): { workflow?: string | undefined } => ({
    workflow: readText(chosen),
  }),
  component: lazyScreen(() => import("../screens/schedules/Schedules.tsx"), "Schedules"),
});

const extractions = createRoute({
  getParentRoute: () => root,
  path: "/extractions",
  validateSearch: ({
    status,
    page,
  }: Record<string, unknown>): { status?: ExtractionStatus | undefined; page?: number | undefined } => ({
    status: readChoice(status, EXTRACTION_STATUSES),
    page: readNumber(page),
  }),
  component: lazyScreen(() => import("../screens/extractions/Extractions.tsx"), "Extractions"),
});

const extraction = createRoute({
  getParentRoute: () => root,
  path: "/extractions/$extractionId",
  component: lazyScreen(() => import("../screens/extractions/ExtractionPage.tsx"), "ExtractionPage"),
});

const events = createRoute({
  getParentRoute: () => root,
  path: "/events",
  component: lazyScreen(() => import("../screens/events/Events.tsx"), "Events"),
});

export const buildRoutes = [
  agents,
  newAgent,
  agent,
  tools,
  workflows,
  workflow,
  newDefinition,
  definition,
  schedules,
  extractions,
  extraction,
  events,
] as const;
