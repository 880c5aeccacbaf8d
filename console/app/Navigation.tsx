import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { call, ApiError } from "../api/call.ts";
import { listApprovals, getSession } from "../api/queries.ts";
import { ErrorNotice } from "../parts/Notices.tsx";
import { openGoTo } from "./GoTo.tsx";
import { OTHER_GROUPS, type Group } from "./screens.ts";
import { useTheme } from "./theme.ts";
import { useScreens } from "./useScreens.ts";
import "./navigation.css";

/** The number of approvals that wait for the person. */
function Waiting() {
  const { data } = useQuery(listApprovals("pending"));
  if (!data?.total) return null;
  return (
    <span className="badge">
      {data.total}
      <span className="hidden-text"> waiting</span>
    </span>
  );
}

/** A session that has already ended needs no sign-out. */
const endSession = () =>
  call("auth/logout", { method: "POST" }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });

function Account() {
  const queries = useQueryClient();
  const { data } = useQuery(getSession);
  const [theme, nextTheme] = useTheme();
  const signOut = useMutation({
    mutationFn: endSession,
    onSuccess: () => {
      // the next person must not see typed text
      sessionStorage.clear();
      queries.clear();
      location.reload();
    },
  });
  return (
    <div className="account">
      <p className="quiet" title={data?.user.email}>
        {data?.user.name || data?.user.email} · {data?.user.role}
      </p>
      <button type="button" className="button small" onClick={nextTheme}>
        Theme: {theme}
      </button>
      <button type="button" className="button small" onClick={() => signOut.mutate()}>
        Sign out
      </button>
      {signOut.isError && <ErrorNotice error={signOut.error} />}
    </div>
  );
}

const Screens = ({ group }: { group: Group }) => {
  const screens = useScreens().filter((screen) => screen.group === group);
  return (
    <ul className="plain">
      {screens.map(({ to, name }) => (
        <li key={to}>
          <Link to={to} activeOptions={{ exact: to === "/" }} activeProps={{ className: "active" }}>
            {name} {to === "/inbox" && <Waiting />}
          </Link>
        </li>
      ))}
    </ul>
  );
};

/** Links to every screen. A phone shows the first group, and the others on request. */
export function Navigation() {
  const { data } = useQuery(getSession);
  const { pathname } = useLocation();
  // a navigation closes it
  const [openAt, setOpenAt] = useState<string>();
  const isOpen = openAt === pathname;
  return (
    <header className={isOpen ? "navigation open" : "navigation"}>
      <p className="brand">{data?.organization.name || "Console"}</p>
      <button type="button" className="button small" title="Ctrl-K or Cmd-K" onClick={openGoTo}>
        Go to…
      </button>
      <nav aria-label="Main">
        <Screens group="Yours" />
        <button
          type="button"
          className="button small more"
          aria-expanded={isOpen}
          aria-controls="more-screens"
          onClick={() => setOpenAt(isOpen ? undefined : pathname)}
        >
          {isOpen ? "Less" : "More"}
        </button>
        <div id="more-screens" className="more-screens">
          {OTHER_GROUPS.map((group) => (
            <Screens key={group} group={group} />
          ))}
          <ul className="plain">
            <li>
              <a href="../docs/">Docs</a>
            </li>
          </ul>
        </div>
      </nav>
      <Account />
    </header>
  );
}
