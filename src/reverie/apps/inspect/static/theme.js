"use strict";
// Before anything is drawn: light or dark as it was chosen; otherwise as the system has it.
document.documentElement.style.colorScheme = localStorage.getItem("theme") || "light dark";
