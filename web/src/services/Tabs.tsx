import { Link } from "@tanstack/react-router";
import styles from "./Tabs.module.css";

/** Tabs switches between services and contexts. */
export function Tabs() {
  return (
    <nav className={styles.tabs} aria-label="Services and contexts">
      <Link to="/services" activeOptions={{ exact: true, includeSearch: false }} className={styles.tab}>
        Services
      </Link>
      <Link to="/services/contexts" activeOptions={{ includeSearch: false }} className={styles.tab}>
        Contexts
      </Link>
    </nav>
  );
}
