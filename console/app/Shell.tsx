import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, useMatches, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { ApiError } from "../api/call.ts";
import { followChanges } from "../api/changes.ts";
import { getSession } from "../api/queries.ts";
import { ErrorNotice, Loading } from "../parts/Notices.tsx";
import { SignIn } from "../screens/signIn/SignIn.tsx";
import { GoTo } from "./GoTo.tsx";
import { Interruption } from "./Interruption.tsx";
import { NavigationProgress } from "./NavigationProgress.tsx";
import { Navigation } from "./Navigation.tsx";
import { followScreens } from "./followScreens.ts";
import { keepFocus } from "./keepFocus.ts";
import { Shortcuts } from "./Shortcuts.tsx";
import "./shell.css";

/** The frame around a screen for a signed-in person. */
function SignedIn() {
  const queries = useQueryClient();
  const router = useRouter();
  useEffect(() => followChanges(queries), [queries]);
  useEffect(() => followScreens(router), [router]);
  useEffect(() => keepFocus(document.querySelector<HTMLElement>("#main")!), []);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Navigation />
      <NavigationProgress />
      <main id="main" tabIndex={-1}>
        <Interruption />
        <Outlet />
      </main>
      <Shortcuts />
      <GoTo />
    </div>
  );
}

/** The screens that need no session are below this path. */
const PUBLIC = "/approve/$linkId";

export function Shell() {
  const isPublic = useMatches().some(({ routeId }) => routeId === PUBLIC);
  return isPublic ? <Outlet /> : <Private />;
}

function Private() {
  const session = useQuery(getSession);
  if (session.data) return <SignedIn />;
  if (session.error instanceof ApiError && session.error.status === 401) return <SignIn />;
  return (
    <main className="alone">
      {session.isError ? (
        <ErrorNotice error={session.error} onRetry={() => void session.refetch()} />
      ) : (
        <Loading what="the console" />
      )}
    </main>
  );
}
