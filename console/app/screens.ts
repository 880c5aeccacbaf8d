/**
 * The screens of the navigation, in groups: a person's work, history, building, usage and administration. `letter` is pressed after
 * `g` on the keyboard.
 */
export const SCREENS = [
  { group: "Yours", to: "/", name: "Home", letter: "h" },
  { group: "Yours", to: "/inbox", name: "Inbox", letter: "i" },
  { group: "Yours", to: "/chat", name: "Chat", letter: "c" },
  { group: "History", to: "/requests", name: "Requests", letter: "q" },
  { group: "History", to: "/runs", name: "Runs", letter: "r" },
  { group: "History", to: "/log", name: "Log", letter: "l", isForAdmins: true },
  { group: "Build", to: "/agents", name: "Agents", letter: "a" },
  { group: "Build", to: "/knowledge", name: "Knowledge", letter: "k" },
  { group: "Build", to: "/extractions", name: "Extractions", letter: "x" },
  { group: "Build", to: "/workflows", name: "Workflows", letter: "w" },
  { group: "Build", to: "/schedules", name: "Schedules", letter: "d" },
  { group: "Build", to: "/events", name: "Events", letter: "n" },
  { group: "Build", to: "/tools", name: "Tools", letter: "t", isForBuilders: true },
  { group: "Operate", to: "/usage", name: "Usage", letter: "u", isForAdmins: true },
  { group: "Operate", to: "/spending", name: "Spending", letter: "p", isForAdmins: true },
  { group: "Operate", to: "/members", name: "Members", letter: "m" },
  { group: "Operate", to: "/keys", name: "Keys", letter: "y", isForAdmins: true },
  { group: "Operate", to: "/privacy", name: "Privacy", letter: "v", isForAdmins: true },
  { group: "Operate", to: "/health", name: "Health", letter: "e", isForAdmins: true },
  { group: "Operate", to: "/settings", name: "Settings", letter: "s" },
] as const satisfies readonly {
  group: Group;
  to: string;
  name: string;
  letter: string;
  isForAdmins?: true;
  isForBuilders?: true;
}[];

export type Group = "Yours" | "History" | "Build" | "Operate";
/** The groups below the first, which a phone always shows. */
export const OTHER_GROUPS = ["History", "Build", "Operate"] as const satisfies Group[];
