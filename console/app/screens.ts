/** The screens of the navigation. `letter` follows `g` on the keyboard. */
export const SCREENS = [
  { to: "/", name: "Home", letter: "h" },
  { to: "/chat", name: "Chat", letter: "c" },
  { to: "/inbox", name: "Inbox", letter: "i" },
  { to: "/requests", name: "Requests", letter: "q" },
  { to: "/runs", name: "Runs", letter: "r" },
  { to: "/knowledge", name: "Knowledge", letter: "k" },
  { to: "/log", name: "Log", letter: "l", isForAdmins: true },
  { to: "/usage", name: "Usage", letter: "u", isForAdmins: true },
  { to: "/members", name: "Members", letter: "m" },
  { to: "/keys", name: "Keys", letter: "y", isForAdmins: true },
  { to: "/settings", name: "Settings", letter: "s" },
] as const satisfies readonly { to: string; name: string; letter: string; isForAdmins?: true }[];
