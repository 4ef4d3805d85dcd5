import type { Icon } from "@tabler/icons-react";
import {
  IconAdjustmentsHorizontal,
  IconBraces,
  IconClock,
  IconFlag,
  IconGauge,
  IconHistory,
  IconHome,
  IconKey,
  IconServer2,
  IconSettings,
  IconStack2,
  IconUsers,
  IconWebhook,
} from "../ui/icons";

/** Place is a screen of the rail; keys is the key after g. Secondary screens, which people rarely need, are at the bottom. */
interface Place {
  to:
    | "/"
    | "/flags"
    | "/loggers"
    | "/configs"
    | "/jobs"
    | "/history"
    | "/environments"
    | "/services"
    | "/people"
    | "/keys"
    | "/webhooks"
    | "/plan"
    | "/settings";
  label: string;
  icon: Icon;
  keys: string;
  second?: boolean;
}

export const places: Place[] = [
  { to: "/", label: "Home", icon: IconHome, keys: "h" },
  { to: "/flags", label: "Flags", icon: IconFlag, keys: "f" },
  { to: "/loggers", label: "Log levels", icon: IconAdjustmentsHorizontal, keys: "l" },
  { to: "/configs", label: "Config", icon: IconBraces, keys: "c" },
  { to: "/jobs", label: "Jobs", icon: IconClock, keys: "j" },
  { to: "/history", label: "History", icon: IconHistory, keys: "y" },
  { to: "/environments", label: "Environments", icon: IconStack2, keys: "e", second: true },
  { to: "/services", label: "Services", icon: IconServer2, keys: "s", second: true },
  { to: "/people", label: "People", icon: IconUsers, keys: "p", second: true },
  { to: "/keys", label: "Keys", icon: IconKey, keys: "k", second: true },
  { to: "/webhooks", label: "Webhooks", icon: IconWebhook, keys: "w", second: true },
  { to: "/plan", label: "Plan", icon: IconGauge, keys: "n", second: true },
  { to: "/settings", label: "Settings", icon: IconSettings, keys: ",", second: true },
];
