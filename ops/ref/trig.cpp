#include "ops/ref/fn_trig.h"

#define TW_FAMILY_trig ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_trig
#include "ops/ref/family.inc"
