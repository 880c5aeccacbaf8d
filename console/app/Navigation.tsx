import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { listApprovals, whoAmI } from "../api/queries.ts";
import { openGoTo } from "./GoTo.tsx";
import { useTheme } from "./theme.ts";
import { useScreens } from "./useScreens.ts";
import "./navigation.css";

/** The number of approvals that wait for the person. */
function Waiting() {
  const { data } = useQuery(listApprovals("pending", 50));
  if (!data?.total) return null;
  return (
    <span className="badge">
      {data.total}
      <span className="hidden-text"> waiting</span>
    </span>
  );
}

function Account() {
  const queries = useQueryClient();
  const { data } = useQuery(whoAmI);
  const [theme, nextTheme] = useTheme();
  const signOut = async () => {
    await call("auth/logout", { method: "POST" }).catch(() => {});
    queries.clear();
    location.reload();
  };
  return (
    <div className="account">
      <p className="quiet" title={data?.user.email}>
        {data?.user.name || data?.user.email} · {data?.user.role}
      </p>
      <button type="button" className="button small" title="Ctrl-K or Cmd-K" onClick={openGoTo}>
        Go to…
      </button>
      <button type="button" className="button small" onClick={nextTheme}>
        Theme: {theme}
      </button>
      <button type="button" className="button small" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  );
}

export function Navigation() {
  const { data } = useQuery(whoAmI);
  const screens = useScreens();
  return (
    <header className="navigation">
      <p className="brand">{data?.organization.name || "Console"}</p>
      <nav aria-label="Main">
        <ul className="plain">
          {screens.map(({ to, name }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === "/" }} activeProps={{ className: "active" }}>
                {name} {to === "/inbox" && <Waiting />}
              </Link>
            </li>
          ))}
          <li>
            <a href="../docs/">Docs</a>
          </li>
        </ul>
      </nav>
      <Account />
    </header>
  );
}
