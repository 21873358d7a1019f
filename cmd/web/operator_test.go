package main

import (
	"net/http"
	"testing"

	"sluice/store"
)

// A viewer reads; who submits work, or spends a model's tokens, is an operator.
func TestP35_ViewersSubmitNothing(t *testing.T) {
	w := newWorld(t)
	viewer := w.stranger("Vera", store.RoleViewer)
	viewer.problemOf(http.StatusForbidden, viewer.post("/api/v1/runs", `{"goal":"show the kernel version"}`))
	viewer.problemOf(http.StatusForbidden, viewer.post("/api/v1/plans/propose", `{"goal":"show the kernel version","by":"model"}`))
	viewer.want(http.StatusOK, viewer.post("/api/v1/plans/propose", `{"goal":"show the kernel version"}`), nil)
	operator := w.stranger("Olga", store.RoleOperator)
	operator.want(http.StatusAccepted, operator.post("/api/v1/runs", `{"goal":"show the kernel version"}`), nil)
}
