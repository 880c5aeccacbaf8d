import { createRoute } from "@tanstack/react-router";
import { KEY_STATES } from "../api/keys.ts";
import { OWNED_KINDS } from "../api/owned.ts";
import { ROLES } from "../api/members.ts";
import { GROUPINGS } from "../api/usage.ts";
import type { KeySearch } from "../screens/keys/search.ts";
import { MEMBER_STATES, type MemberSearch } from "../screens/members/search.ts";
import { SECTIONS as PRIVACY_SECTIONS, type PrivacySearch } from "../screens/privacy/search.ts";
import { SECTIONS, type SettingsSearch } from "../screens/settings/search.ts";
import { SECTIONS as SPENDING_SECTIONS, type SpendingSearch } from "../screens/spending/search.ts";
import { MEASURES, type UsageSearch } from "../screens/usage/rows.ts";
import { lazyScreen } from "./lazyScreen.ts";
import { root } from "./root.ts";
import { readChoice, readNumber, readText, readTexts } from "./search.ts";

/* The screens of the organization itself: its keys, people, usage and settings. */

const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  validateSearch: ({ q, state, project, page }: Record<string, unknown>): KeySearch => ({
    q: readText(q),
    state: readChoice(state, KEY_STATES),
    project: readText(project),
    page: readNumber(page),
  }),
  component: lazyScreen(() => import("../screens/keys/Keys.tsx"), "Keys"),
});

const newKey = createRoute({
  getParentRoute: () => root,
  path: "/keys/new",
  validateSearch: (search: Record<string, unknown>): Partial<Record<"project" | "like", string>> =>
    readTexts(search, "project", "like"),
  component: lazyScreen(() => import("../screens/keys/NewKey.tsx"), "NewKey"),
});

const key = createRoute({
  getParentRoute: () => root,
  path: "/keys/$keyId",
  component: lazyScreen(() => import("../screens/keys/KeyPage.tsx"), "KeyPage"),
});

const members = createRoute({
  getParentRoute: () => root,
  path: "/members",
  validateSearch: ({ q, role, state, page, view }: Record<string, unknown>): MemberSearch => ({
    q: readText(q),
    role: readChoice(role, ROLES),
    state: readChoice(state, MEMBER_STATES),
    page: readNumber(page),
    view: readChoice(view, ["former"]),
  }),
  component: lazyScreen(() => import("../screens/members/Members.tsx"), "Members"),
});

const newMember = createRoute({
  getParentRoute: () => root,
  path: "/members/new",
  component: lazyScreen(() => import("../screens/members/NewMember.tsx"), "NewMember"),
});

const member = createRoute({
  getParentRoute: () => root,
  path: "/members/$memberId",
  component: lazyScreen(() => import("../screens/members/MemberPage.tsx"), "MemberPage"),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  validateSearch: ({ by, label, measure, from, to, page }: Record<string, unknown>): UsageSearch => ({
    by: readChoice(by, GROUPINGS),
    label: readText(label),
    measure: readChoice(measure, MEASURES),
    from: readText(from),
    to: readText(to),
    page: readNumber(page),
  }),
  component: lazyScreen(() => import("../screens/usage/Usage.tsx"), "Usage"),
});

const spending = createRoute({
  getParentRoute: () => root,
  path: "/spending",
  validateSearch: ({ section, edit, q }: Record<string, unknown>): SpendingSearch => ({
    section: readChoice(section, SPENDING_SECTIONS),
    edit: readText(edit),
    q: readText(q),
  }),
  component: lazyScreen(() => import("../screens/spending/Spending.tsx"), "Spending"),
});

const privacy = createRoute({
  getParentRoute: () => root,
  path: "/privacy",
  validateSearch: ({ section, subject, page, after, kind }: Record<string, unknown>): PrivacySearch => ({
    section: readChoice(section, PRIVACY_SECTIONS),
    subject: readText(subject),
    page: readNumber(page),
    after: readText(after),
    kind: readChoice(kind, OWNED_KINDS),
  }),
  component: lazyScreen(() => import("../screens/privacy/Privacy.tsx"), "Privacy"),
});

const health = createRoute({
  getParentRoute: () => root,
  path: "/health",
  component: lazyScreen(() => import("../screens/health/Health.tsx"), "Health"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: ({ section, edit }: Record<string, unknown>): SettingsSearch => ({
    section: readChoice(section, SECTIONS),
    edit: readText(edit),
  }),
  component: lazyScreen(() => import("../screens/settings/Settings.tsx"), "Settings"),
});

export const accountRoutes = [
  keys,
  newKey,
  key,
  members,
  newMember,
  member,
  usage,
  spending,
  privacy,
  health,
  settings,
] as const;
