import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useRole } from "../api/useRole.ts";
import { EmptyState } from "./Notices.tsx";

interface Props {
  /** The content of the screen: "API keys". */
  what: string;
  children: ReactNode;
}

interface Audience {
  isAllowed: boolean;
  title: string;
  /** A sentence about who may see it. */
  seenBy: string;
}

/** A screen for some roles. Others see who may open it. The service enforces the same roles. */
const OnlyFor = ({ what, children, isAllowed, title, seenBy }: Props & Audience) =>
  isAllowed ? (
    children
  ) : (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">{what}</h1>
      <EmptyState title={title}>
        <p>
          {seenBy} <Link to="/members">See who they are</Link>.
        </p>
      </EmptyState>
    </section>
  );

/** A screen for administrators. */
export const ForAdministrators = (props: Props) => (
  <OnlyFor
    {...props}
    isAllowed={useRole().isAdmin}
    title="For administrators"
    seenBy="Owners and administrators see this."
  />
);

/** A screen for builders and administrators. */
export const ForBuilders = (props: Props) => (
  <OnlyFor
    {...props}
    isAllowed={useRole().isBuilder}
    title="For builders"
    seenBy="Owners, administrators and builders see this."
  />
);
